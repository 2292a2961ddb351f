package import ChatPrimitives

extension RoomEvent {
  package enum Members: Sendable, Equatable {
    /// Joined by an invite. When `invite` is nil, the user joined a public channel, or a service added the user.
    case joined(UserID, role: Role, invite: InviteID?)
    /// Another member added the user.
    case added(UserID, role: Role)
    /// The user was a member already. Changes nothing; recorded for the idempotency key, so that a late retry does not
    /// add a user again who has left since.
    case admissionRepeated(UserID, JoinMethod)
    case left(UserID)
    /// Another member removed the user.
    case removed(UserID)
    case roleChanged(UserID, Role)
    /// Removed, if a member, and cannot join again.
    case banned(UserID)
    case unbanned(UserID)
    /// Can read but not write until this time; nil ends it.
    case silenced(UserID, until: Timestamp?)
    /// The user gets no notifications of this room until this time; nil ends it.
    case muted(UserID, until: Timestamp?)
  }
}

/// By what a user comes into a room.
package enum JoinMethod: Sendable, Hashable {
  case invite(InviteID)
  /// A service's word.
  case service
  /// Another member's word.
  case member
}

/// What a member may do; the raw values stand in the log, ordered by power.
package enum Role: UInt8, Sendable, CaseIterable, Comparable {
  case member = 1
  case administrator = 2
  case owner = 3

  package var name: String {
    switch self {
    case .member: "member"
    case .administrator: "administrator"
    case .owner: "owner"
    }
  }

  package init?(name: String) {
    guard let role = Role.allCases.first(where: { $0.name == name }) else { return nil }
    self = role
  }

  package static func < (left: Role, right: Role) -> Bool { left.rawValue < right.rawValue }
}

extension RoomEvent.Members: EventFamily {
  /// Who joined, left or muted is not a part of it: idempotency keys are looked up within one actor.
  package var fingerprint: Fingerprint? {
    switch self {
    case .joined(_, _, let invite): .joining(by: invite)
    case .added(let user, _): .memberAddition(user)
    case .admissionRepeated(_, .invite(let id)): .joining(by: id)
    case .admissionRepeated(_, .service): .joining(by: nil)
    case .admissionRepeated(let user, .member): .memberAddition(user)
    case .left: .leaving
    case .removed(let user): .memberRemoval(user)
    case .roleChanged(let user, let role): .roleChange(user, role)
    case .banned(let user): .ban(user)
    case .unbanned(let user): .unban(user)
    case .silenced(let user, let until): .silencing(user, until: until)
    case .muted(_, let until): .muting(until: until)
    }
  }

  var isUpkeep: Bool {
    switch self {
    case .left, .removed, .banned, .silenced: true
    case .joined, .added, .admissionRepeated, .roleChanged, .unbanned, .muted: false
    }
  }
}

extension Fingerprint {
  static func joining(by invite: InviteID?) -> Fingerprint { Fingerprint(.text("member.join"), .id(invite?.uuid)) }
  static func memberAddition(_ user: UserID) -> Fingerprint { Fingerprint(.text("member.add"), .id(user.uuid)) }
  static func memberRemoval(_ user: UserID) -> Fingerprint { Fingerprint(.text("member.remove"), .id(user.uuid)) }
  static var leaving: Fingerprint { Fingerprint(.text("member.leave")) }

  static func roleChange(_ user: UserID, _ role: Role) -> Fingerprint {
    Fingerprint(.text("member.role"), .id(user.uuid), .number(Int64(role.rawValue)))
  }

  static func ban(_ user: UserID) -> Fingerprint { Fingerprint(.text("member.ban"), .id(user.uuid)) }
  static func unban(_ user: UserID) -> Fingerprint { Fingerprint(.text("member.unban"), .id(user.uuid)) }

  static func silencing(_ user: UserID, until: Timestamp?) -> Fingerprint {
    Fingerprint(.text("member.silence"), .id(user.uuid), .number(until?.milliseconds))
  }

  static func muting(until: Timestamp?) -> Fingerprint {
    Fingerprint(.text("room.mute"), .number(until?.milliseconds))
  }
}

// MARK: - Decide

extension RoomDecider {
  static func join(
    by context: CommandContext, in state: RoomState, _ directory: borrowing some Directory
  ) throws(Rejection) -> Decision<RoomEvent> {
    let user = try actor(of: context)
    if let member = try room(state).members[user] { return repeated(.service, of: user, member, by: context) }
    let room = try openRoom(state)
    try requireAdmissible(user, to: room, directory)
    return .record([.members(.joined(user, role: room.role(forComingInWith: .member), invite: nil))])
  }

  /// Who is a member already comes in no second time. Under a key that is recorded, for only so is its late retry known
  /// when the user has left since.
  static func repeated(
    _ method: JoinMethod, of user: UserID, _ member: Member, by context: CommandContext
  ) -> Decision<RoomEvent> {
    context.command == nil ? .alreadyDone(member.joined) : .record([.members(.admissionRepeated(user, method))])
  }

  static func addMember(
    _ user: UserID, by context: CommandContext, in state: RoomState, _ directory: borrowing some Directory
  ) throws(Rejection) -> Decision<RoomEvent> {
    if let member = try room(state).members[user] { return repeated(.member, of: user, member, by: context) }
    let room = try openRoom(state)
    guard directory.isRegistered(user) else { throw .userNotFound }
    try requireAdmissible(user, to: room, directory)
    return .record([.members(.added(user, role: room.role(forComingInWith: .member)))])
  }

  /// Everyone removes those of a lower role; an owner, and whoever stands as high as oneself, only a service removes.
  /// That the target's role is asked here and not in `authorize` lets a retry survive the target's return.
  static func removeMember(
    _ user: UserID, by context: CommandContext, in state: RoomState, _ directory: borrowing some Directory
  ) throws(Rejection) -> Decision<RoomEvent> {
    let room = try room(state)
    guard let target = room.members[user] else { throw .memberNotFound }
    try requireAuthority(over: target.role, context, in: state, directory)
    return .record(departure(of: user, by: .members(.removed(user)), from: room))
  }

  /// An owner goes last: alone, the room stays behind without members, and belongs to whoever comes in next.
  static func leave(by context: CommandContext, in state: RoomState) throws(Rejection) -> Decision<RoomEvent> {
    let user = try actor(of: context)
    let room = try room(state)
    guard let member = room.members[user] else { throw .roomNotFound }
    guard room.kind != .direct else { throw .directRoomFixed }
    guard member.role != .owner || room.members.count == 1 else { throw .ownerMustTransfer }
    return .record([.members(.left(user))])
  }

  // MARK: Coming in and going

  /// Whatever way it is: a ban keeps everyone out, and a channel takes in members of its workspace alone.
  static func requireAdmissible(
    _ user: UserID, to room: Room, _ directory: borrowing some Directory
  ) throws(Rejection) {
    guard room.banned[user] == nil else { throw .banned }
    if let workspace = room.workspace {
      guard directory.role(of: user, in: workspace) != nil else { throw .workspaceMembersOnly }
    }
    guard room.members.count < Limits.membersPerRoom else { throw .tooManyMembers }
  }

  /// A member's going, by whatever event. A room never stays without an owner while it has members: when the owner is
  /// put out, or goes with the workspace, ownership passes to the one of the highest role who has been there longest.
  static func departure(of user: UserID, by event: RoomEvent, from room: Room) -> [RoomEvent] {
    guard room.members[user]?.role == .owner else { return [event] }
    return room.members.heir.map { [event, .members(.roleChanged($0, .owner))] } ?? [event]
  }
}

extension Room {
  /// No room with members that ever had an owner is without one: who comes into an empty one owns it. A room that a service
  /// made for itself, and a direct one, never had any.
  func role(forComingInWith role: Role) -> Role {
    members.isEmpty && hasHadOwner ? .owner : role
  }
}

/// Roles, ownership, bans and silence. Whom it is about is asked here and not in `authorize`, so that a retry survives
/// what became of the target since.
extension RoomDecider {
  /// One gives at most the own role, to those below oneself; oneself one may only lower. Ownership passes by a transfer.
  /// Recorded even when nothing changes: the event carries the idempotency key.
  static func changeRole(
    of user: UserID, to role: Role, by context: CommandContext, in state: RoomState,
    _ directory: borrowing some Directory
  ) throws(Rejection) -> Decision<RoomEvent> {
    guard let target = try room(state).members[user] else { throw .memberNotFound }
    guard role != .owner else { throw .roleNotAllowed }
    guard target.role != .owner else {
      throw user == context.actor || context.actor == nil ? .ownerMustTransfer : .forbidden
    }
    if user == context.actor {
      // What one may do by the workspace's role is no role to be taken on for good.
      guard role <= target.role else { throw .roleNotAllowed }
    } else {
      try requireAuthority(over: target.role, context, in: state, directory)
      guard role <= (try authority(of: context, in: state, directory)).highestRole else { throw .roleNotAllowed }
    }
    return .record([.members(.roleChanged(user, role))])
  }

  /// The owner becomes an administrator. A room without an owner, as a service makes it, gets one by a service.
  static func transfer(
    to user: UserID, by context: CommandContext, in state: RoomState
  ) throws(Rejection) -> Decision<RoomEvent> {
    let room = try room(state)
    guard room.members[user] != nil else { throw .memberNotFound }
    let owners: [UserID]
    switch try roomActor(of: context, in: state) {
    case .member(let actor, let member):
      guard member.role == .owner else { throw .forbidden }
      owners = [actor]
    case .service:
      owners = room.members.owners
    }
    guard !owners.contains(user) else { throw .roleNotAllowed }
    return .record([.members(.roleChanged(user, .owner))] + owners.map { .members(.roleChanged($0, .administrator)) })
  }

  /// Also of who is no member, and then cannot become one. Under a key it is recorded again, for only so is its late retry
  /// known when the ban was lifted since.
  static func ban(
    _ user: UserID, by context: CommandContext, in state: RoomState, _ directory: borrowing some Directory
  ) throws(Rejection) -> Decision<RoomEvent> {
    let room = try room(state)
    if let since = room.banned[user] {
      return context.command == nil ? .alreadyDone(since) : .record([.members(.banned(user))])
    }
    guard directory.isRegistered(user) else { throw .userNotFound }
    guard user != context.actor else { throw .forbidden }
    if let target = room.members[user] { try requireAuthority(over: target.role, context, in: state, directory) }
    guard room.banned.count < Limits.bansPerRoom else { throw .tooManyBans }
    return .record(departure(of: user, by: .members(.banned(user)), from: room))
  }

  static func unban(_ user: UserID, in state: RoomState) throws(Rejection) -> Decision<RoomEvent> {
    guard try room(state).banned[user] != nil else { throw .banNotFound }
    return .record([.members(.unbanned(user))])
  }

  /// Recorded even when nothing changes: the event carries the idempotency key.
  static func silence(
    _ user: UserID, until: Timestamp?, by context: CommandContext, in state: RoomState,
    _ directory: borrowing some Directory
  ) throws(Rejection) -> Decision<RoomEvent> {
    guard let target = try room(state).members[user] else { throw .memberNotFound }
    try requireAuthority(over: target.role, context, in: state, directory)
    return .record([.members(.silenced(user, until: until))])
  }
}

// MARK: - Evolve

extension Room {
  mutating func apply(_ event: RoomEvent.Members, _ stamp: Stamp) {
    switch event {
    case .joined(let user, let role, let invite):
      admit(user, role, stamp)
      if let invite { invites[invite]?.uses += 1 }
    case .added(let user, let role):
      admit(user, role, stamp)
    case .left(let user), .removed(let user):
      dismiss(user, stamp)
    case .roleChanged(let user, let role):
      guard members[user] != nil else { return }
      members.setRole(role, of: user)
      if role == .owner { hasHadOwner = true }
    case .banned(let user):
      dismiss(user, stamp)
      if banned[user] == nil { banned[user] = stamp }
    case .unbanned(let user):
      banned[user] = nil
    case .silenced(let user, let until):
      members.change(user) { $0.silencedUntil = until }
    case .muted(let user, let until):
      members.change(user) { $0.mutedUntil = until }
    case .admissionRepeated:
      break
    }
  }

  private mutating func admit(_ user: UserID, _ role: Role, _ stamp: Stamp) {
    guard members[user] == nil else { return }
    var member = Member(role: role, joined: stamp, joinedOrdinal: lastOrdinal, marker: lastOrdinal)
    if !silencedAway.isEmpty { member.silencedUntil = silencedAway.removeValue(forKey: user) }
    members.admit(user, member)
    if role == .owner { hasHadOwner = true }
  }

  private mutating func dismiss(_ user: UserID, _ stamp: Stamp) {
    guard let member = members.dismiss(user), let until = member.silencedUntil, until > stamp.time else {
      return
    }
    // What is over is forgotten as something is added, so that there is never more than can come back.
    if !silencedAway.isEmpty { silencedAway = silencedAway.filter { $0.value > stamp.time } }
    silencedAway[user] = until
  }
}
