package import ChatPrimitives

extension RoomEvent {
  package enum Sharing: Sendable, Equatable {
    case inviteCreated(Invite)
    case inviteRevoked(InviteID)
  }
}

extension RoomEvent.Sharing: EventFamily {
  package var fingerprint: Fingerprint? {
    switch self {
    case .inviteCreated(let invite): invite.fingerprint
    case .inviteRevoked(let id): .inviteRevocation(id)
    }
  }

  var isUpkeep: Bool {
    switch self {
    case .inviteCreated: false
    case .inviteRevoked: true
    }
  }
}

extension Fingerprint {
  static func inviteRevocation(_ id: InviteID) -> Fingerprint {
    Fingerprint(.text("invite.revoke"), .id(id.uuid))
  }
}

// MARK: - Commands

extension RoomCommand {
  package enum Sharing: Sendable, Equatable {
    case createInvite(Invite)
    case revokeInvite(InviteID)
    /// The actor joins with an invite.
    case acceptInvite(InviteID)
  }
}

extension RoomCommand.Sharing: AggregateCommand {
  package typealias Entity = RoomCommand.Entity

  package func fingerprint(by actor: UserID?) -> Fingerprint {
    switch self {
    case .createInvite(let invite): invite.fingerprint
    case .revokeInvite(let id): .inviteRevocation(id)
    case .acceptInvite(let id): .joining(by: id)
    }
  }

  package var isKnownByItself: Bool {
    switch self {
    case .createInvite: true
    case .revokeInvite, .acceptInvite: false
    }
  }
}

// MARK: - Decide

extension RoomDecider {
  func decide(
    _ command: RoomCommand.Sharing, _ directory: borrowing some Directory
  ) throws(Rejection) -> Decision<RoomEvent> {
    switch command {
    case .createInvite(let invite): try createInvite(invite, directory)
    case .revokeInvite(let id): try revokeInvite(id, directory)
    case .acceptInvite(let id): try acceptInvite(id, directory)
    }
  }

  /// A retry is recognised before the other checks, so it succeeds even after the invite has expired.
  private func createInvite(
    _ invite: Invite, _ directory: borrowing some Directory
  ) throws(Rejection) -> Decision<RoomEvent> {
    try requireAdministrator(directory)
    if let earlier = try room().invites[invite.id] {
      guard earlier.invite.fingerprint == basis.fingerprint else { throw .idInUse }
      return .alreadyDone(earlier.created)
    }
    let room = try openRoom()
    guard invite.role <= (try authority(directory)).highestRole else { throw .inviteRoleNotAllowed }
    try invite.fieldFlaws(at: context.time).requireNone()
    if invite.expiresAt == nil, !directory.allowsInvitesWithoutExpiry { throw .inviteExpiryRequired }
    guard room.invites.count < Limits.invitesEverPerRoom else { throw .invitesExhausted }
    guard room.canHoldInvite(at: context.time) else { throw .tooManyInvites }
    try directory.requireFreeCode(of: invite)
    return .record([.sharing(.inviteCreated(invite))])
  }

  private func revokeInvite(
    _ id: InviteID, _ directory: borrowing some Directory
  ) throws(Rejection) -> Decision<RoomEvent> {
    try requireAdministrator(directory)
    if let done = try doneBefore() { return done }
    guard let invite = try room().invites[id] else { throw .inviteNotFound }
    if let revoked = invite.revoked { return .alreadyDone(revoked) }
    return .record([.sharing(.inviteRevoked(id))])
  }

  /// For an invite that is no longer valid, the user learns that and nothing about the room. Only members of a
  /// workspace, including guests, can join its channels with an invite.
  private func acceptInvite(
    _ id: InviteID, _ directory: borrowing some Directory
  ) throws(Rejection) -> Decision<RoomEvent> {
    try requireRegisteredActor(directory)
    let user = try actor()
    guard let room = state.room, let invite = room.invites[id] else { throw .inviteNotFound }
    guard room.banned[user] == nil else { throw .banned }
    if let done = try doneBefore() { return done }
    if let member = room.members[user] { return repeated(.invite(id), of: user, member) }
    try invite.requireUsable(at: context.time)
    let open = try openRoom()
    try requireAdmissible(user, to: open, directory)
    let role = open.role(forComingInWith: open.role(givenBy: invite, directory))
    return .record([.members(.joined(user, role: role, invite: id))])
  }
}

extension Room {
  /// A room keeps all its invites, at most `Limits.invitesEverPerRoom`. The live ones are counted only if there are
  /// many.
  fileprivate func canHoldInvite(at time: Timestamp) -> Bool {
    guard invites.count >= Limits.invitesPerRoom else { return true }
    return invites.values.lazy.filter { $0.isLive(at: time) }.count < Limits.invitesPerRoom
  }

  /// The role that an invite gives now: at most the current role of the user who created it. A creator who was removed
  /// or got a lower role cannot get the old role back with that invite.
  fileprivate func role(givenBy invite: InviteState, _ directory: borrowing some Directory) -> Role {
    guard let maker = invite.maker else { return invite.invite.role }
    return min(invite.invite.role, role(of: maker, directory) ?? .member)
  }
}

// MARK: - Evolve

extension Room {
  mutating func apply(_ event: RoomEvent.Sharing, _ stamp: Stamp, by actor: UserID?) {
    switch event {
    case .inviteCreated(let invite): invites[invite.id] = InviteState(invite: invite, created: stamp, maker: actor)
    case .inviteRevoked(let id): invites[id]?.revoked = stamp
    }
  }
}
