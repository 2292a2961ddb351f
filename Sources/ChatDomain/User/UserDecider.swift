package import ChatPrimitives

/// One user: account, logins, sessions, devices, uploads, blocked users and deletion. Each of these families has a file,
/// `User+Account` to `User+Deletion`: its events, its commands, what each command records, and how the state changes.
/// The state is in `User`.
package struct UserDecider: Decider {
  package typealias Entity = ChatPrimitives.Entity.User
  package typealias State = UserState
  package typealias Command = UserCommand
  package typealias Event = UserEvent

  package let basis: DecisionBasis<Entity, State>

  package init(_ basis: DecisionBasis<Entity, State>) {
    self.basis = basis
  }

  package static var initial: UserState { .absent }

  // MARK: Decide

  package func decide(
    _ command: UserCommand, _ directory: borrowing some Directory
  ) throws(Rejection) -> Decision<UserEvent> {
    let decision: Decision<UserEvent> =
      switch command {
      case .account(let command): try decide(command, directory)
      case .logins(let command): try decide(command, directory)
      case .sessions(let command): try decide(command)
      case .devices(let command): try decide(command)
      case .media(let command): try decide(command)
      case .blocks(let command): try decide(command, directory)
      case .deletion(let command): try decide(command)
      }
    guard case .record(let events, let revision) = decision, case .registered(let user) = state else { return decision }
    return .record(events + silencing(after: events, of: user), revision: revision)
  }

  /// The user, for every command except registrations. Only the user and services may send these commands; others do
  /// not learn whether the user exists. The session of the request must be open.
  /// - Parameter ended: a session that may send the command even after it has ended.
  func authorizedUser(orAfterEndOf ended: SessionID? = nil) throws(Rejection) -> User {
    guard context.isByService || context.actor == id else { throw .forbidden }
    guard case .registered(let user) = state else { throw .userNotFound }
    if let session = context.session, session != ended {
      guard user.openSessions.contains(session) else { throw .sessionEnded }
    }
    return user
  }

  // MARK: Evolve

  package static func evolve(_ state: inout UserState, _ event: UserEvent, _ stamp: Stamp, by actor: UserID?) {
    switch state {
    case .absent:
      switch event {
      case .account(.registered(let registration)):
        state = .registered(User(registration, stamp))
      case .erased:
        // A stream's first event is always the registration.
        state = .registered(User(erasedAt: stamp))
      case .account, .logins, .sessions, .devices, .media, .blocks, .deletion:
        break
      }
    case .registered(var user):
      // Clearing the state first releases the payload, so that it is changed in place and not copied.
      state = .absent
      if case .deletion(.deleted) = event {
        state = .deleted(DeletedUser(deleted: stamp))
      } else {
        user.apply(event, stamp)
        state = .registered(user)
      }
    case .deleted(var deleted):
      guard case .deletion(let event) = event else { return }
      deleted.apply(event, stamp)
      state = .deleted(deleted)
    }
  }
}
