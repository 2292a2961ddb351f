import ArgumentParser
import ChatPrimitives
import ChatProjections
import ChatProtocol
import ChatPush
import EventLog
import EventStore

/// `hansard push explain`: shows which devices are notified of an event, and why the others are not.
struct PushExplainCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "explain",
    abstract: "Shows which devices are notified of an event, with which kind and badge, and why the others are not.",
    discussion: """
      OUTCOME is the outcome of the notification so far. RESPONSE is what the provider responded if the notification \
      was not delivered. RECORDED is when the outcome was recorded. The command reads the whole log; a server may be \
      running. It shows no token and sends nothing.
      """)

  @OptionGroup var data: DataOption

  @Argument(help: "The event's position in the log, as hansard audit shows it.")
  var position: UInt64

  @Option(help: "Only devices of this user: an ID, email address, external ID or nickname.")
  var user: String?

  @Flag(help: "Print one JSON object.")
  var json = false

  func run() async throws {
    try await ToolError.report {
      let log = try data.openLog()
      let only = try user.map { name in try UserID(name) ?? SupportReader(data).user(name).id }
      let bar = ProgressBar("reading", total: log.head.value, unit: .items("events"))
      defer { bar.finish() }
      let explanation = try PushExplanation(of: LogPosition(position), in: StoredEvents(log), for: only) {
        bar.update($0)
      }
      bar.finish()
      let decisions = PushDecisions(explanation)
      let output = ByteOutput()
      if json {
        try output.line(String(decoding: JSONWriter.bytes(of: decisions), as: UTF8.self))
      } else {
        for line in Self.lines(decisions) { try output.line(line) }
      }
      try output.flush()
    }
  }

  private static func lines(_ decisions: PushDecisions) -> [String] {
    let subject = subject(of: decisions).map { "\($0.name) \($0.id)" }.joined(separator: ", ")
    return ["position \(decisions.position), \(decisions.time.rfc3339): \(subject)"]
      + TextTable.lines(
        [
          .left("USER"), .left("DEVICE"), .left("PROVIDER"), .left("DECISION"), .right("BADGE"), .left("OUTCOME"),
          .left("RESPONSE"), .left("RECORDED"),
        ], decisions.devices.map(cells))
  }

  private static func cells(_ device: PushDecision) -> [String] {
    let decision =
      device.kind.map { $0 + (device.quiet == true ? " (quiet)" : "") } ?? "not notified: \(device.reason ?? "")"
    let outcome = device.outcome.map { $0 + (device.outcomeReason.map { ": \($0)" } ?? "") }
    return [
      device.userId.description, device.deviceId.description, device.provider ?? "", decision,
      device.badge.map { String($0) } ?? "",
      outcome ?? "", device.response ?? "", device.recordedAt?.rfc3339 ?? "",
    ]
  }

  /// The IDs that the event names.
  private static func subject(of decisions: PushDecisions) -> [(name: String, id: String)] {
    let subject: [(String, String?)] = [
      ("roomId", decisions.roomId?.description), ("workspaceId", decisions.workspaceId?.description),
      ("messageId", decisions.messageId?.description), ("memberId", decisions.memberId?.description),
      ("senderId", decisions.senderId?.description),
    ]
    return subject.compactMap { name, id in id.map { (name, $0) } }
  }
}
