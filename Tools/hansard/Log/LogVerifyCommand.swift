import ArgumentParser
import ChatPrimitives
import EventLog
import EventStore

/// `hansard log verify`: whether every byte of the log is as it was written.
struct LogVerifyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Checks every header, every block and every record.",
    discussion: "Ends with 1 and names file, offset and position of the first damage, if there is any.")

  @OptionGroup var data: DataOption

  @Flag(help: "One JSON object.")
  var json = false

  func run() async throws {
    try await ToolError.report {
      let bar = ProgressBar("verifying", total: nil, unit: .bytes)
      defer { bar.finish() }
      do {
        let report = try LogVerifier(directory: data.directory).run { done, total in bar.update(done, of: total) }
        bar.finish()
        try print(report, seconds: bar.seconds)
      } catch let error as LogError where Self.isDamage(error.code) {
        bar.finish()
        if json { try print(error) }
        throw ToolError(error, exit: .found)
      }
    }
  }

  /// Whether an error speaks of the log's bytes, not of the way to them.
  private static func isDamage(_ code: LogError.Code) -> Bool {
    switch code {
    case .corrupt, .wrongVersion: true
    case .poisoned, .locked, .fullDisk, .io, .outOfRange, .tooLarge, .missing, .invalidRecord, .outOfOrder, .closed,
      .busy:
      false
    }
  }

  private func print(_ report: LogVerifier.Report, seconds: Double) throws {
    let output = ByteOutput()
    if json {
      try output.line(
        .object([
          ("ok", .bool(true)),
          ("events", .number(report.records)),
          ("blocks", .count(report.blocks)),
          ("segments", .count(report.segments)),
          ("bytes", .number(report.bytes)),
          ("bytesBehindHead", .number(report.bytesBehindHead)),
          ("head", .number(report.head.value)),
          ("identity", .text(report.identity.description)),
        ]))
    } else {
      try output.line(
        "ok: \(Quantity.count(report.records)) events in \(Quantity.count(report.blocks)) blocks of "
          + "\(Quantity.count(report.segments)) segments, \(Quantity.bytes(report.bytes)), head "
          + "\(report.head), in \(Quantity.seconds(seconds))")
      if report.bytesBehindHead > 0 {
        try output.line(
          "\(Quantity.bytes(report.bytesBehindHead)) stand behind the last durable event: a write under way, or what "
            + "a crash left for the next start to judge")
      }
    }
    try output.flush()
  }

  private func print(_ damage: LogError) throws {
    let location = damage.location
    let output = ByteOutput()
    try output.line(
      .object([
        ("ok", .bool(false)),
        ("code", .text(damage.code.rawValue)),
        ("cause", .text(orNull: damage.cause)),
        ("file", .text(orNull: location?.file)),
        ("offset", location?.offset.map(JSONValue.number) ?? .null),
        ("position", location?.position.map { .number($0.value) } ?? .null),
      ]))
    try output.flush()
  }
}
