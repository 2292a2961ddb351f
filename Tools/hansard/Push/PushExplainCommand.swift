import ArgumentParser
import ChatDomain
import ChatPrimitives
import ChatPush
import EventLog
import EventStore

/// `hansard push explain`: shows which devices are notified of a message, and why the others are not.
struct PushExplainCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "explain",
    abstract: "Shows which devices are notified of a message, with what badge, and why the others are not.",
    discussion: """
      OUTCOME is the outcome of the notification so far. Reads the whole log, also while a server runs. Shows no token \
      and sends nothing.
      """)

  @OptionGroup var data: DataOption

  @Argument(help: "The message's position in the log, as hansard audit shows it.")
  var position: UInt64

  @Flag(help: "Print one JSON object.")
  var json = false

  func run() async throws {
    try await ToolError.report {
      let log = try data.openLog()
      let bar = ProgressBar("reading", total: log.head.value, unit: .items("events"))
      defer { bar.finish() }
      let explanation = try PushExplanation(of: LogPosition(position), in: StoredEvents(log)) { bar.update($0) }
      bar.finish()
      let output = ByteOutput()
      for line in json ? [Self.json(explanation).encoded] : Self.lines(explanation) { try output.line(line) }
      try output.flush()
    }
  }

  private static func lines(_ explanation: PushExplanation) -> [String] {
    let message = explanation.message
    return [
      "message \(message.message) in room \(message.room) by \(message.sender), position \(message.position),"
        + " \(message.time.rfc3339)"
    ]
      + TextTable.lines(
        [.left("USER"), .left("DEVICE"), .right("BADGE"), .left("VERDICT"), .left("OUTCOME")],
        explanation.decisions.map { decision in
          [decision.user.description, decision.device.description] + cells(decision.decision)
            + [explanation.fate(of: decision).map(cell) ?? ""]
        })
  }

  private static func cells(_ decision: FanOut.Decision) -> [String] {
    switch decision {
    case .notify(let badge): [String(badge), "notify"]
    case .silent(let reason): ["", "silent: \(reason.rawValue)"]
    }
  }

  private static func cell(_ fate: PushExplanation.Fate) -> String {
    switch fate {
    case .waiting: "waiting"
    case .settled(let result, nil): result.name
    case .settled(let result, let reason?): "\(result.name): \(reason.name)"
    }
  }

  private static func json(_ explanation: PushExplanation) -> JSONValue {
    let message = explanation.message
    return .object([
      ("position", .number(message.position.value)),
      ("time", .text(message.time.rfc3339)),
      ("roomId", .text(message.room.description)),
      ("messageId", .text(message.message.description)),
      ("senderId", .text(message.sender.description)),
      ("devices", .list(explanation.decisions.map { json($0, explanation.fate(of: $0)) })),
    ])
  }

  private static func json(_ decision: FanOut.DeviceDecision, _ fate: PushExplanation.Fate?) -> JSONValue {
    let fields: [(String, JSONValue)] = [
      ("userId", .text(decision.user.description)), ("deviceId", .text(decision.device.description)),
    ]
    switch decision.decision {
    case .notify(let badge):
      return .object(
        fields + [("verdict", .text("notify")), ("badge", .number(badge))] + (fate.map(json) ?? []))
    case .silent(let reason):
      return .object(fields + [("verdict", .text("silent")), ("reason", .text(reason.rawValue))])
    }
  }

  private static func json(_ fate: PushExplanation.Fate) -> [(String, JSONValue)] {
    switch fate {
    case .waiting: [("outcome", .text("waiting"))]
    case .settled(let result, let reason):
      [("outcome", .text(result.name))] + (reason.map { [("outcomeReason", .text($0.name))] } ?? [])
    }
  }
}

extension PushExplanation {
  /// Nil for a device that is not notified.
  fileprivate func fate(of decision: FanOut.DeviceDecision) -> Fate? {
    fates[PushNotificationKey(position: message.position, user: decision.user, device: decision.device)]
  }
}
