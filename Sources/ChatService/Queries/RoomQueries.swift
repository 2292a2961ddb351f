package import ChatDomain
package import ChatPrimitives
package import ChatProjections
import EventStore

extension ChatService {
  package func roomList(
    of user: UserID, after cursor: LogPosition?, limit: Int
  ) async throws(ServiceError)
    -> RoomListPage
  {
    try await rooms { try $0.roomList(of: user, after: cursor, limit: limit) }
  }

  /// A room as the user sees it.
  package func room(
    _ room: RoomID, for user: UserID
  ) async throws(ServiceError) -> (
    RoomListRow, nicknames: [UserID: String]
  ) {
    let found: (RoomListRow, [UserID: String])? = try await rooms { rooms in
      guard let row = try rooms.roomListRow(room, for: user) else { return nil }
      return (row, try rooms.nicknames(of: [row.room.lastMessage?.sender].compactMap { $0 }))
    }
    guard let found else { throw .rejected(.roomNotFound) }
    return found
  }

  package func members(
    of room: RoomID, for user: UserID, after cursor: LogPosition?, limit: Int
  )
    async throws(ServiceError) -> MemberPage
  {
    let page: MemberPage? = try await rooms { rooms in
      guard try rooms.member(user, of: room) != nil else { return nil }
      return try rooms.members(of: room, after: cursor, limit: limit)
    }
    guard let page else { throw .rejected(.roomNotFound) }
    return page
  }

  /// The unread messages of all rooms of the user that are neither archived nor muted now.
  package func badge(of user: UserID) async throws(ServiceError) -> (count: UInt64, position: LogPosition) {
    let now = Self.now()
    return try await rooms { (try $0.badge(of: user, at: now), try $0.checkpoint().position) }
  }

  // MARK: Sharing

  /// The newest first; for whoever may share the room.
  package func invites(of room: RoomID, for user: UserID) async throws(ServiceError) -> [InviteRow] {
    let found: Result<[InviteRow], Rejection> = try await rooms { rooms in
      guard let member = try rooms.member(user, of: room) else { return .failure(.roomNotFound) }
      guard member.role >= .administrator else { return .failure(.forbidden) }
      return .success(try rooms.invites(of: room).reversed())
    }
    do {
      return try found.get()
    } catch {
      throw .rejected(error)
    }
  }

  package func invite(_ invite: InviteID, of room: RoomID) async throws(ServiceError) -> InviteRow {
    guard let row = try await rooms({ try $0.invite(invite, of: room) }) else { throw .rejected(.inviteNotFound) }
    return row
  }

  /// What whoever holds the token may see.
  package func invite(withToken token: String) async throws(ServiceError) -> (InviteRow, RoomRow) {
    let hash = InviteTokens.hash(of: token)
    let found: (InviteRow, RoomRow)? = try await rooms { rooms in
      guard let invite = try rooms.invite(tokenHash: hash), let room = try rooms.room(invite.room) else { return nil }
      return (invite, room)
    }
    guard let (invite, room) = found else { throw .rejected(.inviteNotFound) }
    if invite.revoked != nil { throw .rejected(.inviteRevoked) }
    if invite.invite.expiresAt <= Self.now() { throw .rejected(.inviteExpired) }
    if let most = invite.invite.maximumUses, invite.uses >= UInt64(most) { throw .rejected(.inviteUsedUp) }
    if room.archived != nil { throw .rejected(.roomArchived) }
    return (invite, room)
  }

  package func token(of invite: InviteID, in room: RoomID) -> String {
    InviteTokens(keys).token(for: invite, of: room)
  }

  func rooms<T: Sendable>(_ body: @escaping @Sendable (RoomsQueries) throws -> T) async throws(ServiceError) -> T {
    let head = store.head
    return try await failing {
      try await self.views.rooms.wait(for: head)
      return try await self.views.rooms.read(body)
    }
  }
}
