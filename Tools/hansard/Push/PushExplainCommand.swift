import ArgumentParser
import ChatDomain
import ChatPrimitives
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
    let event = explanation.event
    let subject = subject(of: event).map { "\($0.name) \($0.id)" }.joined(separator: ", ")
    return ["position \(event.position), \(event.time.rfc3339): \(subject)"]
      + TextTable.lines(
        [
          .left("USER"), .left("DEVICE"), .left("DECISION"), .right("BADGE"), .left("OUTCOME"), .left("RESPONSE"),
          .left("RECORDED"),
        ],
        explanation.decisions.map { decision in
          [decision.user.description, decision.device.description] + cells(decision.decision)
            + cells(explanation.fate(of: decision))
        })
  }

  private static func cells(_ decision: FanOut.Decision) -> [String] {
    switch decision {
    case .notify(let delivery): [delivery.kind.name + (delivery.isQuiet ? " (quiet)" : ""), String(delivery.badge)]
    case .silent(let reason): ["not notified: \(reason.rawValue)", ""]
    }
  }

  private static func cells(_ fate: PushExplanation.Fate?) -> [String] {
    switch fate {
    case nil: ["", "", ""]
    case .waiting: ["waiting", "", ""]
    case .settled(let outcome):
      [
        outcome.result.name + (outcome.reason.map { ": \($0.name)" } ?? ""), outcome.response ?? "",
        outcome.recorded.rfc3339,
      ]
    }
  }

  /// The IDs that the event names.
  private static func subject(of event: PushEvent) -> [(name: String, id: String)] {
    var subject: [(String, String?)] = [("roomId", event.room?.description)]
    switch event.change {
    case .message(_, let message): subject += [("messageId", message.id.description)]
    case .reaction(_, let id, _, _), .deletion(_, let id, _): subject += [("messageId", id.description)]
    case .room(_, let id): subject += [("messageId", id?.description)]
    case .added(_, let user), .departed(_, let user): subject += [("memberId", user.description)]
    case .reading(_, let user, let id, _): subject += [("memberId", user.description), ("messageId", id?.description)]
    case .invitation(let workspace, let user):
      subject += [("workspaceId", workspace.description), ("memberId", user.description)]
    }
    subject += [("senderId", event.actor?.description)]
    return subject.compactMap { name, id in id.map { (name, $0) } }
  }

  private static func json(_ explanation: PushExplanation) -> JSONValue {
    let event = explanation.event
    return .object(
      [("position", .number(event.position.value)), ("time", .text(event.time.rfc3339))]
        + subject(of: event).map { ($0.name, .text($0.id)) }
        + [("devices", .list(explanation.decisions.map { json($0, explanation.fate(of: $0)) }))])
  }

  private static func json(_ decision: FanOut.DeviceDecision, _ fate: PushExplanation.Fate?) -> JSONValue {
    let fields: [(String, JSONValue)] = [
      ("userId", .text(decision.user.description)), ("deviceId", .text(decision.device.description)),
    ]
    switch decision.decision {
    case .notify(let delivery):
      return .object(
        fields + [
          ("verdict", .text("notify")), ("kind", .text(delivery.kind.name)), ("quiet", .bool(delivery.isQuiet)),
          ("preview", .bool(delivery.showsPreview)), ("badge", .number(delivery.badge)),
        ] + (fate.map(json) ?? []))
    case .silent(let reason):
      return .object(fields + [("verdict", .text("silent")), ("reason", .text(reason.rawValue))])
    }
  }

  private static func json(_ fate: PushExplanation.Fate) -> [(String, JSONValue)] {
    switch fate {
    case .waiting: [("outcome", .text("waiting"))]
    case .settled(let outcome):
      [("outcome", .text(outcome.result.name))] + (outcome.reason.map { [("outcomeReason", .text($0.name))] } ?? [])
        + (outcome.response.map { [("response", .text($0))] } ?? [])
        + [("recordedAt", .text(outcome.recorded.rfc3339))]
    }
  }
}

extension PushExplanation {
  /// Nil for a device that is not notified.
  fileprivate func fate(of decision: FanOut.DeviceDecision) -> Fate? {
    fates[PushNotificationKey(position: event.position, user: decision.user, device: decision.device)]
  }
}
