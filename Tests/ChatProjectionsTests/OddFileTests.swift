import EventStore
import Foundation
import GRDB
import Glibc
import Testing

@testable import ChatProjections

/// A directory, a FIFO or a link to a device in place of a file.
@Suite struct OddFileTests {
  enum Oddity: CaseIterable {
    case fifo
    case directory
    case linkToDevice

    func make(at path: String) throws {
      switch self {
      case .fifo: try #require(mkfifo(path, 0o600) == 0)
      case .directory: try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
      case .linkToDevice: try #require(symlink("/dev/null", path) == 0)
      }
    }
  }

  private let history = RandomHistory(seed: 97, events: 300)

  private func kind(of path: String) -> mode_t? {
    var status = stat()
    return lstat(path, &status) == 0 ? status.st_mode & S_IFMT : nil
  }

  private func requireWhole(_ folder: TemporaryFolder) async throws {
    let expected = try dump(build(TimelineProjection.self, history.events))
    try await withModels(folder, MemoryFeed(history.events)) { (models) async throws in
      var rows: [String: [[DatabaseValue]]]?
      while rows == nil {
        rows = try await models.timeline.read { queries in
          let left = try Int.fetchOne(queries.database, sql: "SELECT COUNT(*) FROM clearing")
          return left == 0 ? try dump(queries.database) : nil
        }
        await Task.yield()
      }
      #expect(rows == expected)
    }
  }

  @Test(
    "a file that is not a regular file is moved aside and the read model is rebuilt",
    arguments: Oddity.allCases, ["", "-wal", "-shm", "-journal"])
  func isMovedAside(oddity: Oddity, suffix: String) async throws {
    let folder = try TemporaryFolder()
    let file = folder.file(TimelineProjection.self)
    try await withModels(folder, MemoryFeed(history.events)) { _ in }
    unlink(file.path + suffix)
    try oddity.make(at: file.path + suffix)
    let odd = try #require(kind(of: file.path + suffix))
    try await requireWhole(folder)
    #expect(kind(of: file.sibling("aside").path + suffix) == odd)
    #expect(kind(of: file.path) == S_IFREG)
  }

  @Test("a damaged file beside a directory of the name that it would get is moved aside under another name")
  func directoryNamedAside() async throws {
    let folder = try TemporaryFolder()
    let file = folder.file(TimelineProjection.self)
    try await withModels(folder, MemoryFeed(history.events)) { _ in }
    try Oddity.directory.make(at: file.sibling("aside").path)
    for _ in 0..<2 {
      try Data(repeating: 0x5a, count: 8192).write(to: URL(fileURLWithPath: file.path))
      try await requireWhole(folder)
      #expect(kind(of: file.sibling("aside").path) == S_IFDIR)
      #expect(kind(of: file.sibling("aside-2").path) == S_IFREG)
      #expect(kind(of: file.sibling("aside-3").path) == nil)
    }
  }

  @Test("a file that cannot be moved aside is tried again, and the advice says what to do")
  func cannotMoveAside() {
    let error = ProjectionError(
      .cannotMoveAside, "rooms.sqlite cannot be moved aside", file: "/data/views/rooms.sqlite")
    let kind = ProjectionFault.Kind(following: error)
    #expect(kind == .temporary)
    #expect(kind.advice(on: error).hasPrefix("Unmount or remove it"))
    #expect(ProjectionFault.message(of: error) == "rooms.sqlite cannot be moved aside")
  }

  @Test(
    "the tools refuse to compare with a file that is not a regular file, and can replace it", arguments: Oddity.allCases
  )
  func tools(oddity: Oddity) throws {
    let folder = try TemporaryFolder()
    let file = folder.file(TimelineProjection.self)
    let rebuild = ProjectionRebuild(
      directory: folder.readModels, feed: MemoryFeed(history.events), logIdentity: testLog)
    try ProjectionFile.makeDirectory(folder.readModels)
    try oddity.make(at: file.path)
    #expect(throws: ProjectionError.self) { _ = try rebuild.verify(TimelineProjection.self) }
    _ = try rebuild.rebuild(TimelineProjection.self)
    #expect(try rebuild.verify(TimelineProjection.self).isEqual)
  }
}
