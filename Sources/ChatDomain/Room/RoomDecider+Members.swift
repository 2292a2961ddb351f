import ChatPrimitives

extension RoomDecider {
  static func join(
    by act: Act, in state: RoomState, _ directory: borrowing some Directory
  ) throws(Rejection) -> Verdict<RoomEvent> {
    let user = try actor(of: act)
    if let member = try room(state).members[user] { return repeated(.service, of: user, member, by: act) }
    let room = try openRoom(state)
    try requireAdmissible(user, to: room, directory)
    return .record([.memberJoined(user, role: room.role(forComingInWith: .member), invite: nil)])
  }

  /// Who is a member already comes in no second time. Under a key that is recorded, for only so is its late retry known
  /// when the user has left since.
  static func repeated(
    _ admission: Admission, of user: UserID, _ member: Member, by act: Act
  ) -> Verdict<RoomEvent> {
    act.command == nil ? .alreadyDone(member.joined) : .record([.admissionRepeated(user, admission)])
  }

  static func addMember(
    _ user: UserID, by act: Act, in state: RoomState, _ directory: borrowing some Directory
  ) throws(Rejection) -> Verdict<RoomEvent> {
    if let member = try room(state).members[user] { return repeated(.member, of: user, member, by: act) }
    let room = try openRoom(state)
    guard directory.isRegistered(user) else { throw .userNotFound }
    try requireAdmissible(user, to: room, directory)
    return .record([.memberAdded(user, role: room.role(forComingInWith: .member))])
  }

  /// Everyone removes those of a lower role; an owner, and whoever stands as high as oneself, only a service removes.
  /// That the target's role is asked here and not in `authorize` lets a retry survive the target's return.
  static func removeMember(
    _ user: UserID, by act: Act, in state: RoomState, _ directory: borrowing some Directory
  ) throws(Rejection) -> Verdict<RoomEvent> {
    let room = try room(state)
    guard let target = room.members[user] else { throw .memberNotFound }
    try requireAuthority(over: target.role, act, in: state, directory)
    return .record(departure(of: user, by: .memberRemoved(user), from: room))
  }

  /// An owner goes last: alone, the room stays behind without members, and belongs to whoever comes in next.
  static func leave(by act: Act, in state: RoomState) throws(Rejection) -> Verdict<RoomEvent> {
    let user = try actor(of: act)
    let room = try room(state)
    guard let member = room.members[user] else { throw .roomNotFound }
    guard room.kind != .direct else { throw .directRoomFixed }
    guard member.role != .owner || room.members.count == 1 else { throw .ownerMustTransfer }
    return .record([.memberLeft(user)])
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

  /// A member's going, by whatever fact. A room never stays without an owner while it has members: when the owner is put
  /// out, or goes with the workspace, ownership passes to the one of the highest role who has been there longest.
  static func departure(of user: UserID, by fact: RoomEvent, from room: Room) -> [RoomEvent] {
    guard room.members[user]?.role == .owner else { return [fact] }
    return room.members.heir.map { [fact, .roleChanged($0, .owner)] } ?? [fact]
  }
}

extension Room {
  /// No room with members that ever had an owner is without one: who comes into an empty one owns it. A room that a service
  /// made for itself, and a direct one, never had any.
  func role(forComingInWith role: Role) -> Role {
    members.isEmpty && hasHadOwner ? .owner : role
  }
}
