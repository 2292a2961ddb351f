package import ChatPrimitives

extension RoomEvent {
  package enum Members: Sendable, Equatable {
    /// Joined with an invite. If `invite` is nil, the user joined a public channel, or a service added the user.
    case joined(UserID, role: Role, invite: InviteID?)
    /// Another member added the user.
    case added(UserID, role: Role)
    /// The user was a member already. This changes nothing. It is recorded for the idempotency key, so that a late
    /// retry does not add the user again after the user has left.
    case admissionRepeated(UserID, JoinMethod)
    case left(UserID)
    /// Another member removed the user.
    case removed(UserID)
    case roleChanged(UserID, Role)
    /// The user is removed, if a member, and cannot join again.
    case banned(UserID)
    case unbanned(UserID)
    /// The user can read but not write until this time; nil ends it.
    case silenced(UserID, until: Timestamp?)
    /// The user gets no notifications of this room until this time; nil ends it.
    case muted(UserID, until: Timestamp?)
    /// Which notifications of this room the user gets; nil for those of the user's preferences.
    case notificationsSet(UserID, NotificationLevel?)
    /// The direct room leaves the user's list until the next message.
    case hidden(UserID)
    /// The direct room is in the user's list again.
    case shown(UserID)
  }
}

extension RoomEvent.Members: EventFamily {
  /// Does not include who joined, left, muted, hid or chose notifications: idempotency keys are looked up within one
  /// actor.
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
    case .notificationsSet(_, let level): .notificationSetting(level)
    case .hidden: .hiding(true)
    case .shown: .hiding(false)
    }
  }

  var isUpkeep: Bool {
    switch self {
    case .left, .removed, .banned, .silenced, .hidden: true
    case .joined, .added, .admissionRepeated, .roleChanged, .unbanned, .muted, .notificationsSet, .shown: false
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

  static func notificationSetting(_ level: NotificationLevel?) -> Fingerprint {
    Fingerprint(.text("room.notifications"), .number((level?.rawValue).map { Int64($0) }))
  }

  static func hiding(_ isHidden: Bool) -> Fingerprint { Fingerprint(.text("room.hide"), .number(isHidden ? 1 : 0)) }
}

// MARK: - Commands

extension RoomCommand {
  package enum Members: Sendable, Equatable {
    /// The actor joins a public channel, or a service adds the actor.
    case join
    /// The actor adds another user.
    case add(UserID)
    case remove(UserID)
    case leave
    case changeRole(UserID, Role)
    /// The actor, or a service, gives ownership to this member.
    case transfer(to: UserID)
    case ban(UserID)
    case unban(UserID)
    /// The member cannot write until then; nil ends it.
    case silence(UserID, until: Timestamp?)
    /// The actor gets no notifications until then; nil ends it.
    case mute(until: Timestamp?)
    /// Which notifications of the room the actor gets; nil for those of the actor's preferences.
    case setNotifications(NotificationLevel?)
    /// Hides a direct room from the actor's list until the next message, or shows it again.
    case setHidden(Bool)
  }
}

extension RoomCommand.Members: AggregateCommand {
  package typealias Entity = RoomCommand.Entity

  package func fingerprint(by actor: UserID?) -> Fingerprint {
    switch self {
    case .join: .joining(by: nil)
    case .add(let user): .memberAddition(user)
    case .remove(let user): .memberRemoval(user)
    case .leave: .leaving
    case .changeRole(let user, let role): .roleChange(user, role)
    case .transfer(let user): .roleChange(user, .owner)
    case .ban(let user): .ban(user)
    case .unban(let user): .unban(user)
    case .silence(let user, let until): .silencing(user, until: until)
    case .mute(let until): .muting(until: until)
    case .setNotifications(let level): .notificationSetting(level)
    case .setHidden(let isHidden): .hiding(isHidden)
    }
  }
}

// MARK: - Decide

/// Rules about the target's role are checked after `doneBefore`, so that a retry succeeds even if the target's role has
/// changed since.
extension RoomDecider {
  func decide(
    _ command: RoomCommand.Members, _ directory: borrowing some Directory
  ) throws(Rejection) -> Decision<RoomEvent> {
    switch command {
    case .join: try join(directory)
    case .add(let user): try addMember(user, directory)
    case .remove(let user): try removeMember(user, directory)
    case .leave: try leave(directory)
    case .changeRole(let user, let role): try changeRole(of: user, to: role, directory)
    case .transfer(let user): try transfer(to: user, directory)
    case .ban(let user): try ban(user, directory)
    case .unban(let user): try unban(user, directory)
    case .silence(let user, let until): try silence(user, until: until, directory)
    case .mute(let until): try mute(until: until)
    case .setNotifications(let level): try setNotifications(level)
    case .setHidden(let isHidden): try setHidden(isHidden)
    }
  }

  /// A service can add the user to any room that is not direct. A user can join a public channel of a workspace that
  /// the user belongs to. A banned user is rejected even on a retry.
  private func join(_ directory: borrowing some Directory) throws(Rejection) -> Decision<RoomEvent> {
    try requireRegisteredActor(directory)
    let (user, room) = try (actor(), room())
    let isFound = room.isFound(by: user, directory)
    guard isFound || context.isByService || room.members[user] != nil else { throw .roomNotFound }
    guard room.kind != .direct else { throw .directRoomFixed }
    guard room.banned[user] == nil else { throw .banned }
    if let done = try doneBefore() { return done }
    if let member = room.members[user] { return repeated(.service, of: user, member) }
    let open = try openRoom()
    try requireAdmissible(user, to: open, directory)
    return .record([.members(.joined(user, role: open.role(forComingInWith: .member), invite: nil))])
  }

  private func addMember(
    _ user: UserID, _ directory: borrowing some Directory
  ) throws(Rejection) -> Decision<RoomEvent> {
    try requireAdministrator(directory)
    if let done = try doneBefore() { return done }
    if let member = try room().members[user] { return repeated(.member, of: user, member) }
    let room = try openRoom()
    try directory.requireRegistered(user)
    try requireAdmissible(user, to: room, directory)
    try requireAddition(of: user, in: room.workspace, directory)
    return .record([.members(.added(user, role: room.role(forComingInWith: .member)))])
  }

  /// Administrators remove members with a lower role. Only a service removes owners and members with the same role.
  private func removeMember(
    _ user: UserID, _ directory: borrowing some Directory
  ) throws(Rejection) -> Decision<RoomEvent> {
    try requireAdministrator(directory)
    if let done = try doneBefore() { return done }
    let room = try room()
    guard let target = room.members[user] else { throw .memberNotFound }
    try requireAuthority(over: target.role, directory)
    return .record(room.departure(of: user, by: .members(.removed(user))))
  }

  /// The owner can leave only as the last member. The room stays without members, and the next user to join it owns it.
  ///
  /// Membership is checked after `doneBefore`, so that a retry by a user who has left is recognised.
  private func leave(_ directory: borrowing some Directory) throws(Rejection) -> Decision<RoomEvent> {
    try requireRegisteredActor(directory)
    if let done = try doneBefore() { return done }
    let (user, room) = try (actor(), room())
    guard let member = room.members[user] else { throw .roomNotFound }
    guard room.kind != .direct else { throw .directRoomFixed }
    guard member.role != .owner || room.members.count == 1 else { throw .ownerMustTransfer }
    return .record([.members(.left(user))])
  }

  /// Administrators give roles up to their own, to members with a lower role. Members can lower their own role.
  /// Ownership changes only by a transfer. Recorded even when nothing changes: the event has the idempotency key.
  private func changeRole(
    of user: UserID, to role: Role, _ directory: borrowing some Directory
  ) throws(Rejection) -> Decision<RoomEvent> {
    if user == context.actor {
      // Requires no role: an administrator who has lowered their own role no longer has it when retrying.
      _ = try changeableRoom(directory)
    } else {
      try requireAdministrator(directory)
    }
    if let done = try doneBefore() { return done }
    guard let target = try room().members[user] else { throw .memberNotFound }
    guard role != .owner else { throw .roleNotAllowed }
    guard target.role != .owner else {
      throw user == context.actor || context.actor == nil ? .ownerMustTransfer : .forbidden
    }
    if user == context.actor {
      // A role in the workspace gives rights in the room, but cannot be turned into a role in the room.
      guard role <= target.role else { throw .roleNotAllowed }
    } else {
      try requireAuthority(over: target.role, directory)
      guard role <= (try authority(directory)).highestRole else { throw .roleNotAllowed }
    }
    return .record([.members(.roleChanged(user, role))])
  }

  /// The owner becomes an administrator. A room that a service created has no owner until a service sets one.
  ///
  /// Ownership is checked after `doneBefore`, so that a retry by the former owner is recognised.
  private func transfer(
    to user: UserID, _ directory: borrowing some Directory
  ) throws(Rejection) -> Decision<RoomEvent> {
    let room = try changeableRoom(directory)
    let roomActor = try roomActor()
    if let done = try doneBefore() { return done }
    guard room.members[user] != nil else { throw .memberNotFound }
    let owners: [UserID]
    switch roomActor {
    case .member(let actor, let member):
      guard member.role == .owner else { throw .forbidden }
      owners = [actor]
    case .service:
      owners = room.members.owners
    }
    guard !owners.contains(user) else { throw .roleNotAllowed }
    return .record([.members(.roleChanged(user, .owner))] + owners.map { .members(.roleChanged($0, .administrator)) })
  }

  /// A user who is not a member can be banned too. Under a key the ban is recorded again, so that a late retry is
  /// recognised after the user has been unbanned.
  private func ban(_ user: UserID, _ directory: borrowing some Directory) throws(Rejection) -> Decision<RoomEvent> {
    try requireAdministrator(directory)
    if let done = try doneBefore() { return done }
    let room = try room()
    if let since = room.banned[user] {
      return context.command == nil ? .alreadyDone(since) : .recordAgain([.members(.banned(user))])
    }
    try directory.requireRegistered(user)
    guard user != context.actor else { throw .forbidden }
    if let target = room.members[user] { try requireAuthority(over: target.role, directory) }
    guard room.banned.count < Limits.bansPerRoom else { throw .tooManyBans }
    return .record(room.departure(of: user, by: .members(.banned(user))))
  }

  private func unban(_ user: UserID, _ directory: borrowing some Directory) throws(Rejection) -> Decision<RoomEvent> {
    try requireAdministrator(directory)
    if let done = try doneBefore() { return done }
    guard try room().banned[user] != nil else { throw .banNotFound }
    return .record([.members(.unbanned(user))])
  }

  /// Recorded even when nothing changes: the event has the idempotency key.
  private func silence(
    _ user: UserID, until: Timestamp?, _ directory: borrowing some Directory
  ) throws(Rejection) -> Decision<RoomEvent> {
    try requireAdministrator(directory)
    if let done = try doneBefore() { return done }
    guard let target = try room().members[user] else { throw .memberNotFound }
    try requireAuthority(over: target.role, directory)
    return .record([.members(.silenced(user, until: until))])
  }

  // MARK: Joining

  /// A member does not join a second time. Under a key an event is recorded, so that a late retry is recognised after
  /// the user has left.
  func repeated(_ method: JoinMethod, of user: UserID, _ member: Member) -> Decision<RoomEvent> {
    context.command == nil ? .alreadyDone(member.joined) : .record([.members(.admissionRepeated(user, method))])
  }

  /// Checked for every way to join. Banned users cannot join, and only a workspace's members can join its channels.
  func requireAdmissible(
    _ user: UserID, to room: Room, _ directory: borrowing some Directory
  ) throws(Rejection) {
    guard room.banned[user] == nil else { throw .banned }
    try requireAdmissible(user, from: room.workspace, directory)
    guard room.members.count < Limits.membersPerRoom else { throw .tooManyMembers }
  }

  /// - Parameter workspace: that of the room.
  func requireAdmissible(
    _ user: UserID, from workspace: WorkspaceID?, _ directory: borrowing some Directory
  ) throws(Rejection) {
    guard let workspace else { return }
    guard directory.role(of: user, in: workspace) != nil else { throw .workspaceMembersOnly }
  }
}

extension Room {
  /// The events when a member leaves, is removed or is banned. If a room with other members loses its owner, the member
  /// with the highest role becomes the owner; among several, the one who joined first.
  func departure(of user: UserID, by event: RoomEvent) -> [RoomEvent] {
    guard members[user]?.role == .owner else { return [event] }
    return members.heir.map { [event, .members(.roleChanged($0, .owner))] } ?? [event]
  }

  /// The role of a user who joins. The first user to join an empty room that once had an owner becomes its owner.
  /// Direct rooms, and rooms that a service created for itself, never had one.
  func role(forComingInWith role: Role) -> Role {
    members.isEmpty && hasHadOwner ? .owner : role
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
    case .admissionRepeated, .notificationsSet, .hidden, .shown:
      // No decision depends on the level or on what is hidden, so the state does not have them.
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
    // Expired entries are dropped when new ones are added, which bounds the set.
    if !silencedAway.isEmpty { silencedAway = silencedAway.filter { $0.value > stamp.time } }
    silencedAway[user] = until
  }
}
