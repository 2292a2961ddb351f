import Foundation

/// Scripts that replace the programs that read images. Runs of `vipsheader` and `vipsthumbnail` are counted together.
struct FakePrograms {
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

  var runs: Int { (try? String(contentsOfFile: log, encoding: .utf8))?.split(separator: "\n").count ?? 0 }

  private func write(_ name: String, _ script: String) throws {
    let file = path + "/" + name
    try Data("#!/bin/sh\n\(script)\n".utf8).write(to: URL(filePath: file))
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file)
  }
}
