import ChatPrimitives
import Synchronization

/// Limits how many streams a user has open at once: each holds unread results and works on its lines.
final class IngestSlots: Sendable {
  private let users = Mutex<[UserID: Int]>([:])

  func enter(_ user: UserID) throws(Refusal) -> IngestSlot {
    let isAdmitted = users.withLock { users in
      guard users[user, default: 0] < Limits.ingestStreamsOfUser else { return false }
      users[user, default: 0] += 1
      return true
    }
    guard isAdmitted else { throw .tooManyStreams }
    return IngestSlot(of: user, in: self)
  }

  fileprivate func leave(_ user: UserID) {
    users.withLock { users in
      guard let own = users[user] else { return }
      users[user] = own > 1 ? own - 1 : nil
    }
  }
}

/// The place of one stream. It is free again when the stream leaves or this object is released.
final class IngestSlot: Sendable {
  private let user: UserID
  private let slots: IngestSlots
  private let hasLeft = Atomic(false)

  fileprivate init(of user: UserID, in slots: IngestSlots) {
    self.user = user
    self.slots = slots
  }

  deinit { leave() }

  func leave() {
    if !hasLeft.exchange(true, ordering: .relaxed) { slots.leave(user) }
  }
}
