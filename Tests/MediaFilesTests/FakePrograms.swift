import Foundation

@testable import MediaFiles

/// Scripts that replace the programs that read images. Runs of `vipsheader` and `vipsthumbnail` are counted together.
struct FakePrograms {
  /// The limit on elapsed time for each script. The server's own limits are short enough to be reached on a busy machine.
  static let time = Duration.seconds(60)

  /// The directory of the scripts.
  let path: String
  private let log: String

  /// Each program runs its text as a shell script.
  init(in folder: TemporaryFolder, vipsheader: String, vipsthumbnail: String) throws {
    path = folder.path + "/programs"
    log = folder.path + "/runs"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    try write("prlimit", #"while [ "$1" != -- ]; do shift; done; shift; exec "$@""#)
    try write("vipsheader", "echo x >> '\(log)'\n\(vipsheader)")
    try write("vipsthumbnail", "echo x >> '\(log)'\n\(vipsthumbnail)")
  }

  /// The settings of a store that uses the scripts.
  func settings(maximumBytes: Int) -> MediaStore.Settings {
    MediaStore.Settings(
      maximumBytes: maximumBytes, programPath: path, headerTime: Self.time, thumbnailTime: Self.time)
  }

  /// The programs themselves.
  func tools() -> ImageTools? { ImageTools(in: path, headerTime: Self.time, thumbnailTime: Self.time) }

  var runs: Int { (try? String(contentsOfFile: log, encoding: .utf8))?.split(separator: "\n").count ?? 0 }

  private func write(_ name: String, _ script: String) throws {
    let file = path + "/" + name
    try Data("#!/bin/sh\n\(script)\n".utf8).write(to: URL(filePath: file))
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file)
  }
}
