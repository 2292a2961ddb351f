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

// MARK: - Decide

extension RoomDecider {
  /// Whether this was done before is asked first: a late retry of an invite that has expired since is still a retry.
  static func createInvite(
    _ invite: Invite, by context: CommandContext, in state: RoomState, _ directory: borrowing some Directory
  ) throws(Rejection) -> Decision<RoomEvent> {
    if let earlier = try room(state).invites[invite.id] {
      guard earlier.invite.fingerprint == invite.fingerprint else { throw .idInUse }
      return .alreadyDone(earlier.created)
    }
    let room = try openRoom(state)
    guard invite.role != .owner, invite.role <= (try authority(of: context, in: state, directory)).highestRole else {
      throw .inviteRoleNotAllowed
    }
    try invite.requireForm(at: context.time)
    guard room.invites.count < Limits.invitesEverPerRoom else { throw .invitesExhausted }
    guard hasPlaceForInvite(room, at: context.time) else { throw .tooManyInvites }
    return .record([.sharing(.inviteCreated(invite))])
  }

  /// The room keeps every invite, of which there are `Limits.invitesEverPerRoom`; only when it holds many are the live ones
  /// counted.
  private static func hasPlaceForInvite(_ room: Room, at time: Timestamp) -> Bool {
    guard room.invites.count >= Limits.invitesPerRoom else { return true }
    return room.invites.values.lazy.filter { $0.isLive(at: time) }.count < Limits.invitesPerRoom
  }

  static func revokeInvite(_ id: InviteID, in state: RoomState) throws(Rejection) -> Decision<RoomEvent> {
    guard let invite = try room(state).invites[id] else { throw .inviteNotFound }
    if let revoked = invite.revoked { return .alreadyDone(revoked) }
    return .record([.sharing(.inviteRevoked(id))])
  }

  /// Who holds a dead invite learns that it is dead, and nothing of the room.
  /// A channel's link lets in members of its workspace alone, guests too: who holds it was let in by who gave it.
  static func acceptInvite(
    _ id: InviteID, by context: CommandContext, in state: RoomState, _ directory: borrowing some Directory
  ) throws(Rejection) -> Decision<RoomEvent> {
    let user = try actor(of: context)
    guard let room = state.room, let invite = room.invites[id] else { throw .inviteNotFound }
    if let member = room.members[user] { return repeated(.invite(id), of: user, member, by: context) }
    try invite.requireUsable(at: context.time)
    let open = try openRoom(state)
    try requireAdmissible(user, to: open, directory)
    let role = open.role(forComingInWith: given(by: invite, in: open, directory))
    return .record([.members(.joined(user, role: role, invite: id))])
  }

  /// What a link gives by now: no more than its maker still has in the room, else who was put out or lowered would come back
  /// by an own link as what they were.
  private static func given(by invite: InviteState, in room: Room, _ directory: borrowing some Directory) -> Role {
    guard let maker = invite.maker else { return invite.invite.role }
    return min(invite.invite.role, role(of: maker, in: room, directory) ?? .member)
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
