import ChatPrimitives
import Foundation
import Testing

@testable import MediaFiles

@Suite("Contents that cannot be decoded")
struct UndecodableTests {
  private let folder: TemporaryFolder
  private let programs: FakePrograms
  private let store: MediaStore

  init() throws {
    folder = try TemporaryFolder()
    programs = try FakePrograms(in: folder, vipsheader: "exit 1", vipsthumbnail: "exit 1")
    store = try MediaStore(directory: folder.media, settings: programs.settings(maximumBytes: 100))
  }

  @Test("are not tried again, however often a thumbnail is asked for, and are forgotten with the content")
  func remembered() async throws {
    let file = try await store.receive(body([[1]]), of: anna)
    try await store.keep(file)
    for width in [80, 80, 320] {
      await #expect(throws: MediaError.imageUndecodable) {
        _ = try await store.thumbnail(of: file.hash, type: "image/png", size: nil, width: width, for: anna)
      }
    }
    #expect(programs.runs == 1)
    let mark = store.folder.undecodable(file.hash)
    #expect(FileManager.default.fileExists(atPath: mark))
    // The cause of the failure may have gone after a while.
    let past = Date(timeIntervalSinceNow: -Double(Limits.undecodableSeconds + 60))
    try FileManager.default.setAttributes([.modificationDate: past], ofItemAtPath: mark)
    for _ in 0..<2 {
      await #expect(throws: MediaError.imageUndecodable) {
        _ = try await store.thumbnail(of: file.hash, type: "image/png", size: nil, width: 80, for: anna)
      }
    }
    #expect(programs.runs == 2)
    let later = Int(Date().timeIntervalSince1970) + 172_800
    #expect(try await store.collect(now: later) { $0 } == 1)
    #expect(!FileManager.default.fileExists(atPath: mark))
    #expect(try FileManager.default.contentsOfDirectory(atPath: store.folder.incoming).isEmpty)
  }

  @Test("count as files of the cache, so that many of them take no more of the disk than thumbnails may")
  func counted() async throws {
    let file = try await store.receive(body([[1]]), of: anna)
    try await store.keep(file)
    await #expect(throws: MediaError.imageUndecodable) {
      _ = try await store.thumbnail(of: file.hash, type: "image/png", size: nil, width: 80, for: anna)
    }
    // The listing at the start may count the file too.
    #expect(store.cache.bytes >= ThumbnailCache.blockBytes)
  }
}
