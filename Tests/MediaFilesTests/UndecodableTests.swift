import ChatPrimitives
import Foundation
import Testing

@testable import MediaFiles

@Suite("Contents that cannot be decoded")
struct UndecodableTests {
  private let folder: TemporaryFolder
  private let store: MediaStore

  /// With programs that note each time they are run, and fail.
  init() throws {
    folder = try TemporaryFolder()
    let programs = folder.path + "/programs"
    try FileManager.default.createDirectory(atPath: programs, withIntermediateDirectories: true)
    func write(_ name: String, _ script: String) throws {
      let path = programs + "/" + name
      try Data("#!/bin/sh\n\(script)\n".utf8).write(to: URL(filePath: path))
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
    }
    try write("prlimit", #"while [ "$1" != -- ]; do shift; done; shift; exec "$@""#)
    for name in ["vipsheader", "vipsthumbnail"] { try write(name, "echo x >> '\(folder.path)/runs'; exit 1") }
    store = try MediaStore(
      directory: folder.media,
      settings: MediaStore.Settings(maximumBytes: 100, unreferencedSeconds: 86_400, programPath: programs))
  }

  private var runs: Int {
    (try? String(contentsOfFile: folder.path + "/runs", encoding: .utf8))?.split(separator: "\n").count ?? 0
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
    #expect(runs == 1)
    let mark = store.folder.undecodable(file.hash)
    #expect(FileManager.default.fileExists(atPath: mark))
    // What made it fail may have passed after a while.
    let past = Date(timeIntervalSinceNow: -Double(Limits.undecodableSeconds + 60))
    try FileManager.default.setAttributes([.modificationDate: past], ofItemAtPath: mark)
    for _ in 0..<2 {
      await #expect(throws: MediaError.imageUndecodable) {
        _ = try await store.thumbnail(of: file.hash, type: "image/png", size: nil, width: 80, for: anna)
      }
    }
    #expect(runs == 2)
    let later = Int(Date().timeIntervalSince1970) + 172_800
    #expect(try await store.collect(now: later) { $0 } == 1)
    #expect(!FileManager.default.fileExists(atPath: mark))
    #expect(try FileManager.default.contentsOfDirectory(atPath: store.folder.incoming).isEmpty)
  }
}
