package import ChatPrimitives

/// Users whose nicknames begin with a text, ordered by nickname.
package struct FoundUsers: Sendable, Hashable {
  package var users: [UserRow]
  /// Whether there are more, or may be more, because not all were looked at.
  package var hasMore: Bool

  package init(users: [UserRow], hasMore: Bool) {
    self.users = users
    self.hasMore = hasMore
  }
}

/// Finds users by email address, external ID or nickname. See decision 0046.
extension AccountsQueries {
  /// Whether anyone can find the user: neither disabled nor deleted. A user does not find themselves, users who accept no
  /// direct messages, users whom they block, and users who block them, so that a block looks like the preference.
  private static let isFindable = """
    disabledPosition IS NULL AND deletedPosition IS NULL
    AND (?1 IS NULL OR (
      id <> ?1 AND acceptsDirectMessages <> 0
      AND NOT EXISTS (SELECT 1 FROM blockedUser WHERE userId = ?1 AND blockedId = user.id)
      AND NOT EXISTS (SELECT 1 FROM blockedUser WHERE userId = user.id AND blockedId = ?1)))
    """

  /// - Parameters:
  ///   - email: in any case and Unicode form.
  ///   - caller: nil for a service.
  package func user(email: String, foundBy caller: UserID?) throws -> UserRow? {
    try user(email: email).flatMap { try findable($0, caller) }
  }

  /// - Parameter caller: nil for a service.
  package func user(externalID: String, foundBy caller: UserID?) throws -> UserRow? {
    try user(externalID: externalID).flatMap { try findable($0, caller) }
  }

  /// - Parameters:
  ///   - caller: nil for a service.
  ///   - limit: the most users that are returned.
  ///   - mostExamined: how many nicknames with this beginning are looked at.
  package func users(
    nickname prefix: NicknamePrefix, foundBy caller: UserID?, limit: Int, examining mostExamined: Int
  ) throws -> FoundUsers {
    let candidates = try CachedStatement(
      database,
      """
      SELECT id FROM user INDEXED BY user_by_nickname
      WHERE nicknameCompared >= ? AND nicknameCompared < ? AND disabledPosition IS NULL AND deletedPosition IS NULL
      ORDER BY nicknameCompared, id LIMIT ?
      """
    ).all(prefix.compared, prefix.end, mostExamined + 1) { try $0.id(UserID.self) }
    return try users(
      Array(candidates.prefix(mostExamined)), foundBy: caller, limit: limit, isCut: candidates.count > mostExamined)
  }

  /// - Parameters:
  ///   - known: the only users who are looked at.
  ///   - caller: nil for a service.
  package func users(
    nickname prefix: NicknamePrefix, among known: some Sequence<UserID>, foundBy caller: UserID?, limit: Int
  ) throws -> FoundUsers {
    let statement = try CachedStatement(database, "SELECT nicknameCompared FROM user WHERE id = ?")
    var matching: [(nickname: String, id: UserID)] = []
    for id in known {
      guard let nickname = try statement.first(id, read: { try $0.text() }), prefix.matches(nickname) else { continue }
      matching.append((nickname, id))
    }
    matching.sort { left, right in
      left.nickname.utf8.elementsEqual(right.nickname.utf8)
        ? left.id < right.id : left.nickname.utf8.lexicographicallyPrecedes(right.nickname.utf8)
    }
    return try users(matching.map(\.id), foundBy: caller, limit: limit, isCut: false)
  }

  /// The first of the candidates who can be found.
  private func users(
    _ candidates: [UserID], foundBy caller: UserID?, limit: Int, isCut: Bool
  ) throws -> FoundUsers {
    let statement = try CachedStatement(
      database, "SELECT \(Self.userColumns) FROM user WHERE id = ?2 AND \(Self.isFindable)")
    var found = FoundUsers(users: [], hasMore: isCut)
    for candidate in candidates {
      guard let row = try statement.first(caller, candidate, read: Self.readUser) else { continue }
      guard found.users.count < limit else {
        found.hasMore = true
        break
      }
      found.users.append(row)
    }
    return found
  }

  private func findable(_ row: UserRow, _ caller: UserID?) throws -> UserRow? {
    try users([row.id], foundBy: caller, limit: 1, isCut: false).users.first
  }
}
