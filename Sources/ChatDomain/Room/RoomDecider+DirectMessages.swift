import ChatPrimitives

/// Who may write to whom in direct rooms. The rule is only here.
///
/// The rejection is the same for both users, and for a block and the preference, so it does not reveal to a user that
/// they are blocked.
extension RoomDecider {
  /// Applies in a direct room of exactly two members. In a larger one, the other members may want to read the message.
  /// In a direct room of a workspace, also if fewer than two members are left in the workspace, or if it was deleted.
  func refusesDirectMessages(_ room: Room, _ directory: borrowing some Directory) -> Bool {
    guard room.kind == .direct else { return false }
    if let workspace = room.workspace {
      var present = 0
      for user in room.members.users where directory.role(of: user, in: workspace) != nil { present += 1 }
      guard present > 1 else { return true }
    }
    guard room.members.count == 2 else { return false }
    let users = Array(room.members.users)
    return Self.refuseDirectMessages(users[0], users[1], directory)
  }

  /// Applies to a new direct room of any size: the creator can only add users if neither refuses the other's direct
  /// messages, and if they accept new direct rooms from the creator.
  func requireDirectMessages(
    of creator: UserID, to others: [UserID], _ directory: borrowing some Directory
  ) throws(Rejection) {
    for other in others where !acceptsDirectRoom(from: creator, other, directory) { throw .directMessagesRefused }
  }

  func acceptsDirectRoom(from creator: UserID, _ other: UserID, _ directory: borrowing some Directory) -> Bool {
    guard !Self.refuseDirectMessages(creator, other, directory) else { return false }
    return accepts(directory.contactRules(of: other).directRooms, of: other, directory)
  }

  private static func refuseDirectMessages(
    _ one: UserID, _ other: UserID, _ directory: borrowing some Directory
  ) -> Bool {
    if directory.isBlocked(one, by: other) { return true }
    if directory.isBlocked(other, by: one) { return true }
    if !directory.acceptsDirectMessages(one) { return true }
    return !directory.acceptsDirectMessages(other)
  }
}
