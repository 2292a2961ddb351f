import GRDB
import Testing

@testable import ChatProjections
@testable import ChatPush

/// The pages of SQLite files that the server keeps in memory.
@Suite struct PageCacheTests {
  /// The limits in docs/reliability.md.
  private static let filesLimit = 8
  private static let bytesLimit = 64 * 1024 * 1024

  /// The maximum size of one connection's cache. SQLite returns a negative size in KiB, and a positive one in pages
  /// (https://www.sqlite.org/pragma.html#pragma_cache_size).
  private func cacheBytes(_ database: Database) throws -> Int {
    let size = try #require(try Int.fetchOne(database, sql: "PRAGMA cache_size"))
    let page = try #require(try Int.fetchOne(database, sql: "PRAGMA page_size"))
    return size < 0 ? -size * 1024 : size * page
  }

  @Test("the connections to all read models and the push outbox cache at most 64 MiB, also after they were far behind")
  func bytesOfAllConnections() throws {
    let folder = TemporaryFolder()
    try ProjectionFile.makeDirectory(folder.path)
    let projections: [any Projection.Type] = Projections.all + [PushProjection.self]
    var bytes = 0
    for projection in projections {
      let pool = try ProjectionFile(projection, in: folder.path).openPool(projection)
      bytes += try pool.writeWithoutTransaction { (database) -> Int in
        var cache = WriterCache()
        try cache.fit(isBehind: true, database)
        #expect(try cacheBytes(database) <= 64 * 1024 * 1024)
        try cache.fit(isBehind: false, database)
        return try cacheBytes(database)
      }
      bytes += try pool.read { try cacheBytes($0) } * pool.configuration.maximumReaderCount
      try pool.close()
    }
    #expect(projections.count <= Self.filesLimit)
    #expect(bytes <= Self.bytesLimit)
  }
}
