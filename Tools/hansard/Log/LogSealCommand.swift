import ArgumentParser
import ChatPrimitives
import EventLog
import Foundation

/// `hansard log seal`: seals all segments, including the active one.
struct LogSealCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "seal",
    abstract:
      "Seals every segment, including the active one: rewrites it densely, with an index and a signed tree head.",
    discussion: """
      A running server seals full segments by itself. Use this to seal the active one too, before a backup or an audit. \
      It needs exclusive use of the data directory: stop the server first. An interrupted run continues where it \
      stopped.
      """)

  @OptionGroup var data: DataOption

  @Flag(help: "Print one JSON object.")
  var json = false

  func run() async throws {
    try await ToolError.report {
      let log = try EmbeddedLog.ofStoppedServer(data)
      let before = try Self.fullSegmentBytes(data.directory, head: log.head)
      let sealed = try log.sealAll()
      let head = log.head
      try log.close()
      try print(
        sealed: sealed, head: head, before: before, after: try Self.fullSegmentBytes(data.directory, head: head))
    }
  }

  private func print(sealed: UInt64, head: LogPosition, before: UInt64, after: UInt64) throws {
    let output = ByteOutput()
    if json {
      try output.line(
        .object([
          ("segmentsSealed", .number(sealed)), ("head", .number(head.value)), ("bytesBefore", .number(before)),
          ("bytesAfter", .number(after)),
        ]))
    } else {
      try output.line(
        "sealed \(Quantity.count(sealed)) segments, up to position \(head): \(Quantity.bytes(before)) of segment files "
          + "became \(Quantity.bytes(after))")
    }
    try output.flush()
  }

  /// The total size of the segment files in bytes, without a segment that is still empty.
  private static func fullSegmentBytes(_ directory: String, head: LogPosition) throws -> UInt64 {
    let folder = URL(fileURLWithPath: directory + "/log", isDirectory: true)
    return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: [.fileSizeKey])
      .filter { $0.pathExtension == "seg" && UInt64($0.deletingPathExtension().lastPathComponent) ?? 0 <= head.value }
      .reduce(0) { sum, file in sum + UInt64(try file.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0) }
  }
}
