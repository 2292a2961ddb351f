import ChatDomain
import ChatPrimitives
import GRDB

/// The members who block the sender of a message, or did so when it was sent. It does not notify them.
struct BlockingMembers {
  /// Nobody blocks the sender.
  static let none = BlockingMembers(leftOut: [], sender: nil)

  /// The members for whom the message does not count.
  let leftOut: Set<UserID>
  /// The sender, if anyone blocks the sender now. In a large room, `leftOut` does not have all members who do.
  let sender: UserID?

  func includes(_ user: UserID, _ database: Database) throws -> Bool {
    if leftOut.contains(user) { return true }
    guard let sender else { return false }
    return try Blocks.isBlocked(sender, by: user, database)
  }
}

extension RoomsBatch {
  /// The members who block the sender of a new message.
  mutating func blockingMembers(of sender: UserID, in room: BufferedRoom) throws -> BlockingMembers {
    guard try isBlockedByAnyone(sender) else { return .none }
    return BlockingMembers(leftOut: try Blockers.members(blocking: sender, in: room, database), sender: sender)
  }

  /// The members whom an edited message cannot newly mention. A member for whom the message was left out when it was
  /// sent is always among them.
  /// - Parameter editor: the sender, because only the sender can edit; nil if the event does not say who it was.
  mutating func blockingMembers(
    of editor: UserID?, whenEditing location: MessageLocation, in room: BufferedRoom
  ) throws -> BlockingMembers {
    let leftOut = try LeftOutMessages.stored(.unread, at: location, in: room, database)
    guard let editor else { return BlockingMembers(leftOut: leftOut, sender: nil) }
    let now = try blockingMembers(of: editor, in: room)
    return BlockingMembers(leftOut: leftOut.union(now.leftOut), sender: now.sender)
  }

  private mutating func isBlockedByAnyone(_ sender: UserID) throws -> Bool {
    if unblocked.contains(sender) { return false }
    if try Blockers.isBlockedByAnyone(sender, database) { return true }
    unblocked.insert(sender)
    return false
  }
}
