import ChatDomain
import ChatPrimitives
import EventStore

/// Legal holds.
extension DecisionState {
  mutating func decideHold(
    _ command: LegalHolds.Command, _ request: ChatCommand, _ next: LogPosition
  ) throws(Rejection) -> CommitDecision<ChatReply> {
    let earlier = request.lookup.command.flatMap { request.known.commands[$0] }
    let decision = try holds.decide(command, request.context, earlier: earlier) { target in
      guard case .user(let user) = target, case .deleted(let deleted)? = users[user]?.state else { return false }
      return deleted.erased != nil
    }
    switch decision {
    case .alreadyDone(let stamp): return repeated(stamp)
    case .record(let events, _), .recordAgain(let events):
      return record(events.map { .server($0) }, creates: decision.creates, request.context, next)
    }
  }
}
