import ChatPrimitives

/// What a member chooses for one room. Nobody else sees it.
extension RoomDecider {
  func mute(until: Timestamp?) throws(Rejection) -> Decision<RoomEvent> {
    try requireMember()
    if let done = try doneBefore() { return done }
    return .record([.members(.muted(try actor(), until: until))])
  }

  func setNotifications(_ level: NotificationLevel?) throws(Rejection) -> Decision<RoomEvent> {
    try requireMember()
    if let done = try doneBefore() { return done }
    return .record([.members(.notificationsSet(try actor(), level))])
  }

  /// Only for direct rooms, which a user cannot leave. Recorded even when nothing changes, because the state does not
  /// contain which rooms are hidden.
  func setHidden(_ isHidden: Bool) throws(Rejection) -> Decision<RoomEvent> {
    try requireMember()
    if let done = try doneBefore() { return done }
    guard try room().kind == .direct else { throw .directRoomOnly }
    let user = try actor()
    return .record([.members(isHidden ? .hidden(user) : .shown(user))])
  }
}
