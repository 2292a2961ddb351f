import ChatPrimitives

/// Roles, ownership, bans and silence. Whom it is about is asked here and not in `authorize`, so that a retry survives
/// what became of the target since.
extension RoomDecider {
  /// One gives at most the own role, to those below oneself; oneself one may only lower. Ownership passes by a transfer.
  /// Recorded even when nothing changes: the fact carries the idempotency key.
  static func changeRole(
    of user: UserID, to role: Role, by act: Act, in state: RoomState, _ directory: borrowing some Directory
  ) throws(Rejection) -> Verdict<RoomEvent> {
    guard let target = try room(state).members[user] else { throw .memberNotFound }
    guard role != .owner else { throw .roleNotAllowed }
    guard target.role != .owner else { throw user == act.actor || act.actor == nil ? .ownerMustTransfer : .forbidden }
    if user == act.actor {
      // What one may do by the workspace's role is no role to be taken on for good.
      guard role <= target.role else { throw .roleNotAllowed }
    } else {
      try requireAuthority(over: target.role, act, in: state, directory)
      guard role <= (try authority(of: act, in: state, directory)).highestRole else { throw .roleNotAllowed }
    }
    return .record([.roleChanged(user, role)])
  }

  /// The owner becomes an administrator. A room without an owner, as a service makes it, gets one by a service.
  static func transfer(to user: UserID, by act: Act, in state: RoomState) throws(Rejection) -> Verdict<RoomEvent> {
    let room = try room(state)
    guard room.members[user] != nil else { throw .memberNotFound }
    let owners: [UserID]
    switch try standing(of: act, in: state) {
    case .member(let actor, let member):
      guard member.role == .owner else { throw .forbidden }
      owners = [actor]
    case .service:
      owners = room.members.owners
    }
    guard !owners.contains(user) else { throw .roleNotAllowed }
    return .record([.roleChanged(user, .owner)] + owners.map { .roleChanged($0, .administrator) })
  }

  /// Also of who is no member, and then cannot become one. Under a key it is recorded again, for only so is its late retry
  /// known when the ban was lifted since.
  static func ban(
    _ user: UserID, by act: Act, in state: RoomState, _ directory: borrowing some Directory
  ) throws(Rejection) -> Verdict<RoomEvent> {
    let room = try room(state)
    if let since = room.banned[user] {
      return act.command == nil ? .alreadyDone(since) : .record([.memberBanned(user)])
    }
    guard directory.isRegistered(user) else { throw .userNotFound }
    guard user != act.actor else { throw .forbidden }
    if let target = room.members[user] { try requireAuthority(over: target.role, act, in: state, directory) }
    guard room.banned.count < Limits.bansPerRoom else { throw .tooManyBans }
    return .record(departure(of: user, by: .memberBanned(user), from: room))
  }

  static func unban(_ user: UserID, in state: RoomState) throws(Rejection) -> Verdict<RoomEvent> {
    guard try room(state).banned[user] != nil else { throw .banNotFound }
    return .record([.memberUnbanned(user)])
  }

  /// Recorded even when nothing changes: the fact carries the idempotency key.
  static func silence(
    _ user: UserID, until: Timestamp?, by act: Act, in state: RoomState, _ directory: borrowing some Directory
  ) throws(Rejection) -> Verdict<RoomEvent> {
    guard let target = try room(state).members[user] else { throw .memberNotFound }
    try requireAuthority(over: target.role, act, in: state, directory)
    return .record([.memberSilenced(user, until: until)])
  }
}
