import ChatDomain
import ChatPrimitives
import ChatProtocol
import ChatPush
import ChatServer

/// The explanation as the API and `hansard push explain --json` show it. It contains no text and no token.
extension PushDecisions {
  init(_ explanation: PushExplanation) {
    let event = explanation.event
    self.init(
      position: event.position, time: event.time,
      devices: explanation.decisions.map { decision in
        let key = PushNotificationKey(position: event.position, user: decision.user, device: decision.device)
        return PushDecision(decision, badge: explanation.badges[decision.user], explanation.states[key])
      }, more: explanation.hasMore, head: explanation.head)
    roomId = event.room
    senderId = event.actor
    switch event.change {
    case .message(_, let message): messageId = message.id
    case .reaction(_, let id, _, _), .deletion(_, let id, _): messageId = id
    case .room(_, let id): messageId = id
    case .added(_, let user), .departed(_, let user): memberId = user
    case .reading(_, let user, let id, _): (memberId, messageId) = (user, id)
    case .invitation(let workspace, let user): (workspaceId, memberId) = (workspace, user)
    case .blocks(let user): memberId = user
    }
  }
}

extension PushDecision {
  /// - Parameters:
  ///   - count: the badge right after the event.
  ///   - state: nil for a device that is not notified, or if push was not switched on.
  fileprivate init(_ decision: FanOut.DeviceDecision, badge count: UInt64?, _ state: PushExplanation.State?) {
    switch decision.decision {
    case .skip(let skipped):
      self.init(userId: decision.user, deviceId: decision.device, verdict: "silent")
      reason = skipped.rawValue
    case .notify(let delivery):
      self.init(userId: decision.user, deviceId: decision.device, verdict: "notify")
      provider = decision.provider?.name
      kind = delivery.kind.name
      quiet = delivery.isQuiet
      preview = delivery.showsPreview
      badge = count.map { Int(clamping: $0) }
    }
    switch state {
    case nil: break
    case .waiting: outcome = "waiting"
    case .settled(let settled):
      outcome = settled.result.name
      outcomeReason = settled.reason?.name
      response = settled.response
      recordedAt = settled.recorded
    }
  }
}

extension PushExplainer {
  /// What the server uses.
  var explanation: EventExplanation {
    { position, user in
      do {
        return PushDecisions(try await explain(position, for: user))
      } catch let error as PushExplanationError {
        throw PushExplanationFailure(error)
      }
    }
  }
}

extension PushExplanationFailure {
  fileprivate init(_ error: PushExplanationError) {
    switch error {
    case .unknownPosition(_, let head): self = .unknownPosition(head: head)
    case .notifiesNobody: self = .notifiesNobody
    case .tookTooLong: self = .tookTooLong
    }
  }
}
