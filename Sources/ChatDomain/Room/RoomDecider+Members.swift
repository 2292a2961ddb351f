import ChatPrimitives

extension RoomDecider {
  static func join(by act: Act, in state: RoomState) throws(Rejection) -> Verdict<RoomEvent> {
    let user = try actor(of: act)
    if let member = try room(state).members[user] { return repeated(.service, of: user, member, by: act) }
    try requirePlaceForMember(in: openRoom(state))
    return .record([.memberJoined(user, role: .member, invite: nil)])
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
