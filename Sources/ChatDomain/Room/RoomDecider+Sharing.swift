import ChatPrimitives

extension RoomDecider {
  /// Whether this was done before is asked first: a late retry of an invite that has expired since is still a retry.
  static func createInvite(_ invite: Invite, by act: Act, in state: RoomState) throws(Rejection) -> Verdict<RoomEvent> {
    if let earlier = try room(state).invites[invite.id] {
      guard earlier.invite.fingerprint == invite.fingerprint else { throw .idInUse }
      return .alreadyDone(earlier.created)
    }
    let room = try openRoom(state)
    guard invite.role != .owner, invite.role <= highestRole(of: try standing(of: act, in: state)) else {
      throw .inviteRoleNotAllowed
    }
    let latest = act.time.adding(milliseconds: Limits.inviteLifetimeMilliseconds)
    guard invite.expiresAt > act.time, invite.expiresAt <= latest else { throw .inviteExpiryOutOfRange }
    if let uses = invite.maximumUses {
      guard uses >= 1, uses <= Limits.inviteUses else { throw .inviteUsesOutOfRange }
    }
    guard hasPlaceForInvite(room, at: act.time) else { throw .tooManyInvites }
    return .record([.inviteCreated(invite)])
  }

  /// The highest role that whoever stands so may give.
  private static func highestRole(of standing: Standing) -> Role {
    switch standing {
    case .member(_, let member): member.role
    case .service: .owner
    }
  }

  /// The room keeps every invite; only when it holds many are the live ones counted.
  private static func hasPlaceForInvite(_ room: Room, at time: Timestamp) -> Bool {
    guard room.invites.count >= Limits.invitesPerRoom else { return true }
    return room.invites.values.lazy.filter { $0.isLive(at: time) }.count < Limits.invitesPerRoom
  }

  static func revokeInvite(_ id: InviteID, in state: RoomState) throws(Rejection) -> Verdict<RoomEvent> {
    guard let invite = try room(state).invites[id] else { throw .inviteNotFound }
    if let revoked = invite.revoked { return .alreadyDone(revoked) }
    return .record([.inviteRevoked(id)])
  }

  /// Who holds a dead invite learns that it is dead, and nothing of the room.
  static func acceptInvite(_ id: InviteID, by act: Act, in state: RoomState) throws(Rejection) -> Verdict<RoomEvent> {
    let user = try actor(of: act)
    guard let room = state.room, let invite = room.invites[id] else { throw .inviteNotFound }
    if let member = room.members[user] { return repeated(.invite(id), of: user, member, by: act) }
    guard invite.revoked == nil else { throw .inviteRevoked }
    guard invite.isLive(at: act.time) else { throw .inviteExpired }
    guard !invite.isUsedUp else { throw .inviteUsedUp }
    try requirePlaceForMember(in: openRoom(state))
    return .record([.memberJoined(user, role: invite.invite.role, invite: id)])
  }
}
