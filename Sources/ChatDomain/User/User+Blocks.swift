package import ChatPrimitives

extension UserEvent {
  /// Blocking other users. See `docs/decisions/0030-blocking-users.md`.
  package enum Blocks: Sendable, Equatable {
    case blocked(UserID)
    case unblocked(UserID)
  }
}

extension UserEvent.Blocks: EventFamily {
  package var fingerprint: Fingerprint? {
    switch self {
    case .blocked(let user): .block(user)
    case .unblocked(let user): .unblock(user)
    }
  }

  /// A user whose quota is used up can still block others.
  var isUpkeep: Bool { true }
}

extension Fingerprint {
  static func block(_ user: UserID) -> Fingerprint { Fingerprint(.text("user.block"), .id(user.uuid)) }
  static func unblock(_ user: UserID) -> Fingerprint { Fingerprint(.text("user.unblock"), .id(user.uuid)) }
}

// MARK: - Commands

extension UserCommand {
  package enum Blocks: Sendable, Equatable {
    case block(UserID)
    case unblock(UserID)
  }
}

extension UserCommand.Blocks: AggregateCommand {
  package typealias Entity = UserCommand.Entity

  package func fingerprint(by actor: UserID?) -> Fingerprint {
    switch self {
    case .block(let user): .block(user)
    case .unblock(let user): .unblock(user)
    }
  }
}

// MARK: - Decide

extension UserDecider {
  func decide(
    _ command: UserCommand.Blocks, _ directory: borrowing some Directory
  ) throws(Rejection) -> Decision<UserEvent> {
    switch command {
    case .block(let other): try block(other, directory)
    case .unblock(let other): try unblock(other)
    }
  }

  /// An existing block is recorded again only under a key, so that a late retry is recognised after the other user has
  /// been unblocked.
  private func block(
    _ other: UserID, _ directory: borrowing some Directory
  ) throws(Rejection) -> Decision<UserEvent> {
    let user = try authorizedUser()
    if let done = try doneBefore() { return done }
    if let since = user.blockedUsers[other] {
      return context.command == nil ? .alreadyDone(since) : .recordAgain([.blocks(.blocked(other))])
    }
    guard other != id else { throw .cannotBlockSelf }
    try directory.requireRegistered(other)
    guard user.blockedUsers.count < Limits.blockedUsersPerUser else { throw .tooManyBlockedUsers }
    return .record([.blocks(.blocked(other))])
  }

  private func unblock(_ other: UserID) throws(Rejection) -> Decision<UserEvent> {
    let user = try authorizedUser()
    if let done = try doneBefore() { return done }
    guard user.blockedUsers[other] != nil else { throw .blockNotFound }
    return .record([.blocks(.unblocked(other))])
  }
}

// MARK: - Evolve

extension User {
  mutating func apply(_ event: UserEvent.Blocks, _ stamp: Stamp) {
    switch event {
    case .blocked(let other):
      if blockedUsers[other] == nil { blockedUsers[other] = stamp }
    case .unblocked(let other):
      blockedUsers[other] = nil
    }
  }
}
