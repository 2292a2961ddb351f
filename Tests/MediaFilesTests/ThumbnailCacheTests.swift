import Foundation
import Testing

@testable import MediaFiles

@Suite("What thumbnails take on the disk")
struct ThumbnailCacheTests {
  private let temporary: TemporaryFolder
  private let folder: MediaFolder
  private let block = ThumbnailCache.blockBytes

  init() throws {
    temporary = try TemporaryFolder()
    folder = try MediaFolder(opening: temporary.media)
  }

  /// Puts a file into the cache, with a modification time this many seconds after a fixed one.
  private func put(_ number: UInt8, bytes: Int, seconds: Int) throws {
    let path = folder.undecodable(sample(number))
    let directory = URL(filePath: path).deletingLastPathComponent()
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    try Data(count: bytes).write(to: URL(filePath: path))
    let time = Date(timeIntervalSince1970: 1_700_000_000 + Double(seconds))
    try FileManager.default.setAttributes([.modificationDate: time], ofItemAtPath: path)
  }

  private func isThere(_ number: UInt8) -> Bool {
    FileManager.default.fileExists(atPath: folder.undecodable(sample(number)))
  }

  @Test("a file takes whole blocks, an empty one too")
  func charge() {
    #expect([0, 1, block, block + 1].map { ThumbnailCache.charge($0) } == [block, block, block, 2 * block])
  }

  @Test("what is there is counted, and nothing is removed within the limit")
  func within() throws {
    for number in UInt8(1)...4 { try put(number, bytes: Int(number), seconds: 0) }
    let cache = ThumbnailCache(in: folder, limit: 4 * block)
    cache.trim()
    #expect(cache.bytes == 4 * block)
    #expect((UInt8(1)...4).allSatisfy { isThere($0) })
  }

  @Test("beyond the limit the oldest are removed, until nine tenths of it are left")
  func oldest() throws {
    let cache = ThumbnailCache(in: folder, limit: 10 * block)
    for number in UInt8(1)...10 {
      try put(number, bytes: block, seconds: Int(number) * 7 % 11)
      cache.add(block)
    }
    #expect(cache.bytes == 10 * block)
    try put(11, bytes: 1, seconds: 100)
    cache.add(1)
    // These two have the earliest times.
    #expect((UInt8(1)...11).filter { !isThere($0) } == [5, 8])
    #expect(cache.bytes == 9 * block)
  }

  @Test("a cache over a lower limit is brought below it when it is listed")
  func lowered() throws {
    for number in UInt8(1)...9 { try put(number, bytes: block, seconds: Int(number)) }
    let cache = ThumbnailCache(in: folder, limit: 4 * block)
    cache.trim()
    #expect((UInt8(1)...9).filter { isThere($0) } == [7, 8, 9])
    #expect(cache.bytes == 3 * block)
  }

  @Test("thumbnails that went with their content are no longer counted after the next listing")
  func counted() throws {
    let cache = ThumbnailCache(in: folder, limit: 2 * block)
    for number in UInt8(1)...2 {
      try put(number, bytes: 1, seconds: 0)
      cache.add(1)
    }
    try FileManager.default.removeItem(atPath: folder.undecodable(sample(1)))
    try put(3, bytes: 1, seconds: 1)
    cache.add(1)
    #expect(isThere(2) && isThere(3))
    #expect(cache.bytes == 2 * block)
  }
}
