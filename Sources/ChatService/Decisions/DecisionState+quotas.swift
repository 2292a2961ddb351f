import ChatDomain
import ChatPrimitives

/// The daily quotas of users.
extension DecisionState {
  /// Called only if there is something new to record: a retry gets its response even if the quota is used up.
  func checkQuotas(_ events: [ChatEvent], _ context: CommandContext) throws(Rejection) {
    guard !quotas.areOff, !context.isByService || quotas.countsServices, let user = context.actor else { return }
    let added = events.reduce(Usage()) { $0 + Usage(of: $1) }
    try usage.check(
      added, for: QuotaPurpose(of: events, under: context.command), by: user, at: context.time,
      under: quotas)
  }

  /// What services do counts only with `quotas.countServices`, and only since the start: the read model excludes it.
  mutating func charge(_ recorded: RecordedEvent) {
    guard let user = recorded.actor, recorded.service == nil || quotas.countsServices else { return }
    if recorded.service != nil, case .room(let room, .messages(.sent(let id, _, _, _))) = recorded.event,
      rooms[room]?.state.room?.scheduled[id] != nil
    {
      return
    }
    usage.charge(Usage(ofAnyone: recorded), to: user, at: recorded.stamp.time)
  }
}

extension RoomCommand {
  /// The message that a client sends.
  var sent: MessageID? {
    if case .messages(.send(let id, _)) = self { id } else { nil }
  }

  /// Whether the server itself sends a message that is due.
  var sendsScheduled: Bool {
    if case .scheduling(.send) = self { true } else { false }
  }
}
