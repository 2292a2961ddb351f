import ChatPrimitives

/// The users of each space (a room or a workspace), and the spaces of each user.
struct LiveAudience<Space: Hashable & Sendable>: Sendable, Equatable {
  private var users: [Space: Set<UserID>] = [:]
  private var spaces: [UserID: Set<Space>] = [:]

  subscript(space: Space) -> Set<UserID> { users[space] ?? [] }

  func spaces(of user: UserID) -> Set<Space> { spaces[user] ?? [] }

  /// The users of any space.
  var allUsers: [UserID] { Array(spaces.keys) }

  func contains(_ space: Space) -> Bool { users[space] != nil }

  mutating func insert(_ user: UserID, _ space: Space) {
    users[space, default: []].insert(user)
    spaces[user, default: []].insert(space)
  }

  mutating func remove(_ user: UserID, _ space: Space) {
    users[space]?.remove(user)
    if users[space]?.isEmpty == true { users[space] = nil }
    spaces[user]?.remove(space)
    if spaces[user]?.isEmpty == true { spaces[user] = nil }
  }

  mutating func remove(_ user: UserID) {
    for space in spaces(of: user) { remove(user, space) }
  }

  mutating func remove(_ space: Space) {
    for user in self[space] { remove(user, space) }
  }
}
