import ChatPrimitives

/// A message that was sent to a room's own timeline, and the users in the index who see it.
struct LiveMessage: Sendable, Equatable {
  var position: LogPosition
  var room: RoomID
  var author: UserID
  var audience: Set<UserID>

  /// Those of `users` who see it. Costs as much as the smaller of the two sets.
  func audience(in users: Set<UserID>) -> [UserID] {
    Array(audience.count < users.count ? audience.filter(users.contains) : users.filter(audience.contains))
  }

  func except(_ users: Set<UserID>) -> LiveMessage {
    var message = self
    message.audience.subtract(users)
    return message
  }
}
