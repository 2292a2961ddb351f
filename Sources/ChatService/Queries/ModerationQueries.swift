package import ChatDomain
package import ChatPrimitives
package import ChatProjections

/// What only a room's administrators may see.
extension ChatService {
  package func bans(
    of room: RoomID, for user: UserID, after cursor: LogPosition?, limit: Int
  ) async throws(ServiceError) -> BanPage {
    try await administering(room, user) { try $0.bans(of: room, after: cursor, limit: limit) }
  }

  package func joinHistory(
    of room: RoomID, for user: UserID, before cursor: LogPosition?, limit: Int
  ) async throws(ServiceError) -> JoinHistoryPage {
    try await administering(room, user) { try $0.joinHistory(of: room, before: cursor, limit: limit) }
  }

  /// Requires an administrator of the room, and reads in the snapshot in which that is checked.
  func administering<T: Sendable>(
    _ room: RoomID, _ user: UserID, _ body: @escaping @Sendable (RoomsQueries) throws -> T
  ) async throws(ServiceError) -> T {
    let found: Result<T, Rejection> = try await rooms { rooms in
      switch try rooms.administers(room, user) {
      case nil: .failure(.roomNotFound)
      case false?: .failure(.forbidden)
      case true?: .success(try body(rooms))
      }
    }
    return try Self.settled(found)
  }

  /// The same for an administrator of the workspace.
  func administering<T: Sendable>(
    _ workspace: WorkspaceID, _ user: UserID, _ body: @escaping @Sendable (RoomsQueries) throws -> T
  ) async throws(ServiceError) -> T {
    let found: Result<T, Rejection> = try await rooms { rooms in
      guard let member = try rooms.member(user, of: workspace) else { return .failure(.workspaceNotFound) }
      return member.role >= .administrator ? .success(try body(rooms)) : .failure(.forbidden)
    }
    return try Self.settled(found)
  }

  static func settled<T>(_ found: Result<T, Rejection>) throws(ServiceError) -> T {
    do {
      return try found.get()
    } catch {
      throw .rejected(error)
    }
  }
}
