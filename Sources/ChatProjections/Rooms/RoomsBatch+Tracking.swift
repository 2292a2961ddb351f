import ChatDomain
import ChatPrimitives

/// Updates the counts of a room's tracked members with each event. If a marker moves back, or forward to a message that
/// is not the last, the member's counts are computed again when the batch is written.
extension RoomsBatch {
  /// The members for whom a message counts as unread.
  enum Counted {
    case everyone(except: Set<UserID>)
    case nobody
  }

  /// Call this before moving the marker of the message's author. The rows of all tracked members are written, because they
  /// contain the room's last activity.
  func countMessage(_ counted: Counted, in room: BufferedRoom) throws {
    room.noteActivity()
    guard case .everyone(let leftOut) = counted else { return }
    try room.countUnread(except: leftOut, database)
  }

  /// - Parameter leftOut: the members for whom the message did not count.
  func countDeletion(of ordinal: UInt64, except leftOut: Set<UserID>, in room: BufferedRoom) throws {
    for member in try room.trackedMembers(except: leftOut, database) {
      member.change { row in
        guard row.readThrough < ordinal, let count = row.tracked?.unreadCount else { return }
        row.tracked?.unreadCount = count - min(1, count)
      }
    }
  }

  /// - Parameters:
  ///   - mentioned: nil stands for everyone.
  ///   - isAdded: whether the mention was added to the message; otherwise it was removed.
  ///   - unmentioned: the members for whom a mention of everyone does not count.
  func countMention(
    of mentioned: UserID?, at ordinal: UInt64, isAdded: Bool, except unmentioned: Set<UserID>, in room: BufferedRoom
  ) throws {
    for user in room.row?.tracked ?? []
    where (mentioned == nil || mentioned == user) && !unmentioned.contains(user) {
      try room.member(user, database).change { row in
        let read = mentioned == nil ? max(row.readThrough, row.joinedOrdinal) : row.readThrough
        guard read < ordinal, let count = row.tracked?.mentionCount else { return }
        row.tracked?.mentionCount = isAdded ? count + 1 : count - min(1, count)
      }
    }
  }

  /// Call this after the member's marker or unread mark has changed.
  func countReading(of member: BufferedMember, in room: BufferedRoom) {
    guard let row = member.row, row.tracked != nil, let last = room.row?.lastOrdinal else { return }
    member.isCountedAnew = row.readThrough < last
    guard !member.isCountedAnew else { return }
    member.change {
      $0.tracked?.unreadCount = 0
      $0.tracked?.mentionCount = 0
    }
  }
}
