import ChatService
import EventLog
import Foundation
import MediaFiles

/// Copies the parts of a data directory that a backup consists of, and checks the copy.
struct DataCopy {
  /// The key files. The server makes everything else again.
  private static let keyFiles = [CheckpointKey.fileName, CheckpointKey.publicFileName, ServerKeys.fileName]
  /// Every key file is shorter, in bytes.
  private static let keyBytes = 64 * 1024

  /// Copies the log and the keys, then checks every byte of the log and that the keys belong to it.
  /// - Parameters:
  ///   - source: the data directory.
  ///   - target: the data directory of the copy.
  ///   - previous: an earlier copy, with which the new one shares the sealed segments.
  static func copyLog(
    _ reader: LogReader, from source: String, to target: String, sharingWith previous: String? = nil
  ) throws -> LogCopy.Report {
    for name in keyFiles { try copyKey(name, from: source, to: target) }
    let report = try progress("copying the log", "segments") { update in
      try LogCopy(of: reader, to: target, linkingTo: previous).run { update($0, nil) }
    }
    let verified = try progress("checking the copy", "bytes") { update in
      try LogVerifier(directory: target).run { update($0, $1) }
    }
    guard verified.head == report.head else {
      throw ToolError(
        "the copy of the log is incomplete", because: "it ends at position \(verified.head) instead of \(report.head)")
    }
    _ = try ServerKeys.load(directory: target, log: report.identity.bytes, mayCreate: false)
    return report
  }

  static func copyMedia(from source: String, to target: String) throws -> MediaCopy.Report {
    try progress("copying media", "files") { update in
      try MediaCopy(from: source, to: target).run { update($0, nil) }
    }
  }

  /// The error for uploaded files that could not be copied; nil if there is none.
  static func damage(in report: MediaCopy.Report) -> ToolError? {
    guard let first = report.damaged.first else { return nil }
    let count = report.damaged.count
    return ToolError(
      count == 1 ? "\(first) was not copied" : "\(first) and \(count - 1) other media files were not copied",
      because: "the bytes of each do not match its name, so the disk has damaged it",
      next: "everything else is complete; restore the file from an older backup, or remove it", exit: .found)
  }

  private static func copyKey(_ name: String, from source: String, to target: String) throws {
    let path = "\(source)/\(name)"
    if access(path, F_OK) != 0, errno == ENOENT {
      // Without the server's own key, the copy would be useless; the check of the copy reports that.
      if name != ServerKeys.fileName {
        Terminal.printError("hansard: \(name) is missing in \(source), so the copy has none\n")
      }
      return
    }
    let text = String(decoding: try RegularFile.read(path, limit: keyBytes), as: UTF8.self)
    try PrivateFile.write(text, to: "\(target)/\(name)")
  }

  private static func progress<Value>(
    _ label: String, _ unit: String, _ body: ((UInt64, UInt64?) -> Void) throws -> Value
  ) rethrows -> Value {
    let bar = ProgressBar(label, total: nil, unit: unit == "bytes" ? .bytes : .items(unit))
    defer { bar.finish() }
    return try body { bar.update($0, of: $1) }
  }
}
