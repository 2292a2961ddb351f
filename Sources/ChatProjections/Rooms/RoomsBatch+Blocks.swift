import ChatDomain
import ChatPrimitives
import GRDB

/// The members whom a message does not notify, because they block its sender or did so when it was sent.
struct UnnotifiedMembers {
  /// Nobody is excluded.
  static let none = UnnotifiedMembers(leftOut: [], sender: nil)

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
  /// The members whom a new message does not notify.
  mutating func unnotified(by sender: UserID, in room: BufferedRoom) throws -> UnnotifiedMembers {
    guard try isBlockedByAnyone(sender) else { return .none }
    return UnnotifiedMembers(leftOut: try Blockers.members(blocking: sender, in: room, database), sender: sender)
  }

  /// The members whom the new mentions of an edited message do not notify. A member for whom the message was left out
  /// when it was sent is always among them.
  /// - Parameter editor: the sender; only the sender can edit.
  mutating func unnotified(
    ofEditBy editor: UserID?, at place: MessageLocation, in room: BufferedRoom
  ) throws -> UnnotifiedMembers {
    let leftOut = try LeftOutMessages.stored(.unread, at: place, in: room, database)
    guard let editor else { return UnnotifiedMembers(leftOut: leftOut, sender: nil) }
    let now = try unnotified(by: editor, in: room)
    return UnnotifiedMembers(leftOut: leftOut.union(now.leftOut), sender: now.sender)
  }

  private mutating func isBlockedByAnyone(_ sender: UserID) throws -> Bool {
    if unblocked.contains(sender) { return false }
    if try Blockers.isBlockedByAnyone(sender, database) { return true }
    unblocked.insert(sender)
    return false
  }
}
