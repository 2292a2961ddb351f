package import ChatPrimitives

extension UserEvent {
  /// The end of an account, see decision 0041.
  package enum Deletion: Sendable, Equatable {
    /// The account is gone, and its names are free. Only the ID stays in use. The last event of its command, and the
    /// last one that has the user as its actor.
    case deleted
    /// No file has what the user wrote any more. It has no actor.
    case erased(Erasure)
  }
}

/// How much was erased.
package struct Erasure: Sendable, Hashable {
  /// Where the account was deleted.
  package var deletion: LogPosition
  /// How many of the user's records have no payload any more.
  package var erasedRecords: UInt64
  /// How many of them still have theirs, because rooms that others use depend on it.
  package var keptRecords: UInt64

  package init(deletion: LogPosition, erasedRecords: UInt64, keptRecords: UInt64) {
    self.deletion = deletion
    self.erasedRecords = erasedRecords
    self.keptRecords = keptRecords
  }
}

extension UserEvent.Deletion: EventFamily {
  package var fingerprint: Fingerprint? {
    switch self {
    case .deleted: .accountDeletion
    case .erased: .erasureCompletion
    }
  }

  var isUpkeep: Bool {
    switch self {
    case .deleted, .erased: true
    }
  }
}

extension Fingerprint {
  static var accountDeletion: Fingerprint { Fingerprint(.text("account.delete")) }
  static var erasureCompletion: Fingerprint { Fingerprint(.text("erasure.complete")) }
}

// MARK: - Commands

extension UserCommand {
  package enum Deletion: Sendable, Equatable {
    case deleteAccount(proof: LoginProof)
    /// The server has erased what the user wrote.
    case completeErasure(Erasure)
  }
}

extension UserCommand.Deletion: AggregateCommand {
  package typealias Entity = UserCommand.Entity

  package func fingerprint(by actor: UserID?) -> Fingerprint {
    switch self {
    case .deleteAccount: .accountDeletion
    case .completeErasure: .erasureCompletion
    }
  }

  /// Nothing happens twice to one account, so every retry is recognised by the user's ID.
  package var isKnownByItself: Bool {
    switch self {
    case .deleteAccount, .completeErasure: true
    }
  }
}

// MARK: - Decide

extension UserDecider {
  func decide(_ command: UserCommand.Deletion) throws(Rejection) -> Decision<UserEvent> {
    switch command {
    case .deleteAccount(let proof): try deleteAccount(proof)
    case .completeErasure(let erasure): try completeErasure(erasure)
    }
  }

  /// Ends every session and every block, and removes every device in the same write, so that nothing is sent to them. A
  /// deleted account stays deleted, so a retry gets the first response, with or without a key.
  private func deleteAccount(_ proof: LoginProof) throws(Rejection) -> Decision<UserEvent> {
    if case .deleted(let deleted) = state {
      guard context.isByService || context.actor == id else { throw .forbidden }
      return .alreadyDone(deleted.deleted)
    }
    let user = try authorizedUser()
    try requireRightToDelete(user, proof)
    return .record(
      user.openSessions.sorted().map { .sessions(.ended($0, .accountDeleted)) }
        + user.devices.keys.sorted().map { .devices(.removed($0)) }
        + user.blockedUsers.keys.sorted().map { .blocks(.unblocked($0)) } + [.deletion(.deleted)],
      revision: user.revision)
  }

  /// An access token alone is not enough, because a deletion cannot be undone.
  private func requireRightToDelete(_ user: User, _ proof: LoginProof) throws(Rejection) {
    if context.isByService { return }
    switch proof {
    case .password(let version):
      guard let credential = user.credential, credential.version == version else { throw .passwordWrong }
    case .identity(let identity):
      guard user.identities[identity] != nil else { throw .linkedLoginRequired }
    case .service:
      throw user.credential == nil ? .linkedLoginRequired : .passwordWrong
    }
  }

  private func completeErasure(_ erasure: Erasure) throws(Rejection) -> Decision<UserEvent> {
    guard context.isByService, context.actor == nil else { throw .serviceOnly }
    guard case .deleted(let deleted) = state else { throw .userNotFound }
    if let erased = deleted.erased { return .alreadyDone(erased) }
    return .record([.deletion(.erased(erasure))])
  }
}

// MARK: - Consequences

extension Room {
  /// What happens in a room when an account is deleted; nothing if the room has nothing of the user. A direct room keeps
  /// the user as a participant, so that the others keep their conversation. A room whose only member leaves is deleted.
  package func withdrawal(of user: UserID) -> [RoomEvent] {
    let leaves = kind != .direct && members[user] != nil
    if leaves, members.count == 1 { return [.lifecycle(.deleted)] }
    let revoked = invites.values.filter { $0.maker == user && $0.revoked == nil }.map(\.invite.id).sorted()
    let cancelled = scheduled.counts[user] == nil ? [] : scheduled.byID.filter { $0.value.author == user }.keys.sorted()
    return revoked.map { .sharing(.inviteRevoked($0)) } + cancelled.map { .scheduling(.cancelled($0)) }
      + (leaves ? departure(of: user, by: .members(.left(user))) : [])
  }
}

extension Workspace {
  /// What happens in a workspace when an account is deleted, except in its channels, which are rooms. A workspace always
  /// has an owner: after the owner, the member with the highest role; among several, the one who joined first. A workspace
  /// whose only member leaves is deleted.
  package func withdrawal(of user: UserID) -> [WorkspaceEvent] {
    let member = members[user]
    if member != nil, members.count == 1 { return [.lifecycle(.deleted)] }
    var events: [WorkspaceEvent] = invites.values
      .filter { $0.maker == user && $0.revoked == nil }.map(\.invite.id).sorted().map { .sharing(.inviteRevoked($0)) }
    if invited[user] != nil { events.append(.invitations(.withdrawn(user))) }
    if let member {
      events.append(.members(.left(user)))
      if member.role == .owner, let heir = heir(of: user) { events.append(.members(.roleChanged(heir, .owner))) }
    }
    return events
  }

  private func heir(of owner: UserID) -> UserID? {
    members.lazy.filter { $0.key != owner }
      .max { ($0.value.role, $1.value.joined.position) < ($1.value.role, $0.value.joined.position) }?.key
  }
}

// MARK: - Evolve

extension DeletedUser {
  mutating func apply(_ event: UserEvent.Deletion, _ stamp: Stamp) {
    switch event {
    case .deleted: break
    case .erased: if erased == nil { erased = stamp }
    }
  }
}
