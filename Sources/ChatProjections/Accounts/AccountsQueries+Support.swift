package import ChatPrimitives

/// Queries for support, which read whole tables. The server does not use them.
extension AccountsQueries {
  /// The users with this nickname, in the order in which they registered.
  package func users(nickname: String, limit: Int) throws -> [UserRow] {
    try CachedStatement(
      database,
      "SELECT \(Self.userColumns) FROM user WHERE nickname = ? ORDER BY registeredPosition LIMIT ?"
    ).all(nickname, limit, read: Self.readUser)
  }

  /// Users, newest first.
  /// - Parameter position: only users who registered before it.
  package func users(before position: LogPosition, limit: Int) throws -> [UserRow] {
    try CachedStatement(
      database,
      "SELECT \(Self.userColumns) FROM user WHERE registeredPosition < ? ORDER BY registeredPosition DESC LIMIT ?"
    ).all(Int64(clamping: position.value), limit, read: Self.readUser)
  }

  /// Sessions of all users, newest first.
  /// - Parameter position: only sessions that started before it.
  package func sessions(before position: LogPosition, limit: Int) throws -> [(user: UserID, session: SessionRow)] {
    try CachedStatement(
      database,
      """
      SELECT userId, \(Self.sessionColumns) FROM session WHERE startedPosition < ?
      ORDER BY startedPosition DESC, userId, id LIMIT ?
      """
    ).all(Int64(clamping: position.value), limit) { (user: try $0.id(), session: try Self.readSession(&$0)) }
  }

  /// The sessions with this ID. Two users can have sessions with the same ID.
  package func sessions(_ id: SessionID) throws -> [(user: UserID, session: SessionRow)] {
    try CachedStatement(database, "SELECT userId, \(Self.sessionColumns) FROM session WHERE id = ? ORDER BY userId")
      .all(id) { (user: try $0.id(), session: try Self.readSession(&$0)) }
  }

  /// Devices of all users, newest first.
  /// - Parameter position: only devices that were registered before it.
  package func devices(before position: LogPosition, limit: Int) throws -> [(user: UserID, device: DeviceRow)] {
    try CachedStatement(
      database,
      """
      SELECT userId, \(Self.deviceColumns) FROM device WHERE registeredPosition < ?
      ORDER BY registeredPosition DESC, userId, id LIMIT ?
      """
    ).all(Int64(clamping: position.value), limit) { (user: try $0.id(), device: try Self.readDevice(&$0)) }
  }

  /// The devices with this ID. Two users can have devices with the same ID.
  package func devices(_ id: DeviceID) throws -> [(user: UserID, device: DeviceRow)] {
    try CachedStatement(database, "SELECT userId, \(Self.deviceColumns) FROM device WHERE id = ? ORDER BY userId")
      .all(id) { (user: try $0.id(), device: try Self.readDevice(&$0)) }
  }
}
