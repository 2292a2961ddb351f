import Foundation

/// Scripts in place of the programs that look at images. Each run of `vipsheader` and `vipsthumbnail` is counted.
struct FakePrograms {
  /// The directory of the scripts.
  let path: String
  private let log: String

  /// - Parameters: what the shell runs for each program.
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
