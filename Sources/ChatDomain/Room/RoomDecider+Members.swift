import ChatPrimitives

extension RoomDecider {
  static func join(by act: Act, in state: RoomState) throws(Rejection) -> Verdict<RoomEvent> {
    let user = try actor(of: act)
    if let member = try room(state).members[user] { return .alreadyDone(member.joined) }
    try requirePlaceForMember(in: openRoom(state))
    return .record([.memberJoined(user, role: .member, invite: nil)])
  }

  static func addMember(
    _ user: UserID, in state: RoomState, _ directory: borrowing some Directory
  ) throws(Rejection) -> Verdict<RoomEvent> {
    if let member = try room(state).members[user] { return .alreadyDone(member.joined) }
    let room = try openRoom(state)
    guard directory.isRegistered(user) else { throw .userNotFound }
    try requirePlaceForMember(in: room)
    return .record([.memberAdded(user, role: .member)])
  }

  /// Everyone removes those of a lower role; an owner, and whoever stands as high as oneself, only a service removes.
  /// That the target's role is asked here and not in `authorize` lets a retry survive the target's return.
  static func removeMember(_ user: UserID, by act: Act, in state: RoomState) throws(Rejection) -> Verdict<RoomEvent> {
    guard let target = try room(state).members[user] else { throw .memberNotFound }
    switch try standing(of: act, in: state) {
    case .member(_, let member): guard target.role < member.role else { throw .forbidden }
    case .service: break
    }
    return .record([.memberRemoved(user)])
  }

  static func leave(by act: Act, in state: RoomState) throws(Rejection) -> Verdict<RoomEvent> {
    let user = try actor(of: act)
    guard try room(state).members[user] != nil else { throw .roomNotFound }
    return .record([.memberLeft(user)])
  }

  static func requirePlaceForMember(in room: Room) throws(Rejection) {
    guard room.members.count < Limits.membersPerRoom else { throw .tooManyMembers }
  }
}
