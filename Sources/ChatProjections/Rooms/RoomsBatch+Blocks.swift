import ChatDomain
import ChatPrimitives
import GRDB

/// The members who block the sender of a message, or did so when it was sent. The message does not notify them.
struct BlockingMembers {
  /// Nobody blocks the sender.
  static let none = BlockingMembers(members: [], sender: nil)

  /// The members who block the sender now, or did so when the message was sent. In a large room, not all of those who
  /// block the sender now. A new message does not count for them.
  let members: Set<UserID>
  /// The sender, if anyone blocks the sender now.
  let sender: UserID?

  func includes(_ user: UserID, _ database: Database) throws -> Bool {
    if members.contains(user) { return true }
    guard let sender else { return false }
    return try Blocks.isBlocked(sender, by: user, database)
  }
}

extension RoomsBatch {
  /// The members who block the sender of a new message.
  mutating func blockingMembers(of sender: UserID, in room: BufferedRoom) throws -> BlockingMembers {
    guard try isBlockedByAnyone(sender) else { return .none }
    return BlockingMembers(members: try Blockers.members(blocking: sender, in: room, database), sender: sender)
  }

  /// The members for whom an edit adds no mention. A member for whom the message was left out when it was sent is always
  /// among them.
  /// - Parameter editor: the sender, because only the sender can edit; nil if the event does not say who it was.
  mutating func blockingMembers(
    ofEditBy editor: UserID?, at location: MessageLocation, in room: BufferedRoom
  ) throws -> BlockingMembers {
    let members = try LeftOutMessages.stored(.unread, at: location, in: room, database)
    guard let editor else { return BlockingMembers(members: members, sender: nil) }
    let now = try blockingMembers(of: editor, in: room)
    return BlockingMembers(members: members.union(now.members), sender: now.sender)
  }

  private mutating func isBlockedByAnyone(_ sender: UserID) throws -> Bool {
    if unblocked.contains(sender) { return false }
    if try Blockers.isBlockedByAnyone(sender, database) { return true }
    unblocked.insert(sender)
    return false
  }
}
