package import ChatDomain
package import ChatPrimitives
import GRDB

/// What typing and presence need to know of rooms.
extension RoomsQueries {
  /// The user's direct rooms, and rooms with few members, among those that are not archived and have the latest activity.
  /// - Parameters:
  ///   - limit: how many rooms are examined.
  ///   - members: how many members a room has at most, if it is not direct.
  package func roomsOfPresence(of user: UserID, limit: Int, members: UInt64) throws -> [RoomID] {
    // Hidden rooms too: the other members must not see that the user has hidden a room.
    let active = try rooms(of: user, in: [.open, .hidden], after: nil, limit: limit)
    let isShown = try CachedStatement(database, "SELECT 1 FROM room WHERE id = ? AND (kind = ? OR memberCount <= ?)")
    return try active.map(\.id).filter {
      try isShown.exists($0, Int64(RoomKind.direct.rawValue), Int64(clamping: members))
    }
  }

  /// Users who block the user.
  package func blockers(of user: UserID, limit: Int) throws -> [UserID] {
    try CachedStatement(database, "SELECT blockerId FROM block WHERE blockedId = ? LIMIT ?").all(user, limit) {
      try $0.id()
    }
  }

  /// Why a user cannot write in a room; nil if the user can, as far as this read model knows.
  ///
  /// Decides like `RoomDecider.requireVoice` and `openRoom`, for what is not recorded in the log.
  package func refusal(of user: UserID, writingIn id: RoomID, at now: Timestamp) throws -> Rejection? {
    guard let member = try member(user, of: id), let room = try room(id) else { return .roomNotFound }
    if let until = member.silencedUntil, until > now { return .memberSilenced }
    if room.kind == .direct, let workspace = room.workspace {
      let members = try CachedStatement(database, "SELECT userId FROM member WHERE roomId = ?")
        .all(id) { try $0.id(UserID.self) }
      guard try members.count(where: { try self.member($0, of: workspace) != nil }) > 1 else {
        return .directMessagesRefused
      }
    }
    if let other = try directPartner(of: user, in: room) {
      if try Blocks.isBlocked(user, by: other, database) { return .directMessagesRefused }
      if try Blocks.isBlocked(other, by: user, database) { return .directMessagesRefused }
    }
    return room.archived == nil ? nil : .roomArchived
  }

  /// The other member of a direct room of two; nil for any other room.
  package func directPartner(of user: UserID, in room: RoomID) throws -> UserID? {
    try self.room(room).flatMap { try directPartner(of: user, in: $0) }
  }

  private func directPartner(of user: UserID, in room: RoomRow) throws -> UserID? {
    guard room.kind == .direct, room.memberCount == 2 else { return nil }
    return try CachedStatement(database, "SELECT userId FROM member WHERE roomId = ? AND userId <> ? LIMIT 1")
      .first(room.id, user) { try $0.id() }
  }
}
