import ChatDomain
import ChatPrimitives

/// Notes which of a user's own entities an event changes, so that the user's clients can ask what changed after a
/// position.
extension AccountsWriter {
  /// - Parameter key: the idempotency key of the command that recorded the event.
  func noteChanges(_ event: UserEvent, of user: UserID, at position: LogPosition, under key: CommandID?) throws {
    for entity in changedEntities(event, of: user, under: key) {
      try Changes.note(entity, in: .user(user), at: position, database)
    }
  }

  private func changedEntities(_ event: UserEvent, of user: UserID, under key: CommandID?) -> [ChangedEntity] {
    let account = ChangedEntity(type: .account, id: user.uuid)
    let preferences = ChangedEntity(type: .preferences, id: user.uuid)
    switch event {
    case .account(.profileChanged), .account(.emailSet), .account(.disabled), .account(.enabled), .logins:
      return [account]
    case .account(.preferencesSet):
      return [preferences]
    case .sessions(.ended(let session, _)):
      // A session that never started has no row.
      if let key, session == UserDecider.absentSession(for: key) { return [] }
      return [ChangedEntity(type: .session, id: session.uuid)]
    case .sessions(.started(let session, _)), .sessions(.refreshed(let session, _)):
      return [ChangedEntity(type: .session, id: session.uuid)]
    case .devices(.registered(let device, _)), .devices(.updated(let device, _)), .devices(.removed(let device)),
      .devices(.tokenInvalidated(let device, _)), .devices(.tokenTaken(let device, _)),
      .devices(.tokenMoved(let device, _)):
      return [ChangedEntity(type: .device, id: device.uuid)]
    case .blocks(.blocked(let other)), .blocks(.unblocked(let other)):
      return [ChangedEntity(type: .blockedUser, id: other.uuid)]
    case .account(.registered), .media, .deletion, .erased:
      // The user's row says where the registration was, also if it was erased.
      return []
    }
  }
}
