import ChatDomain
package import ChatPrimitives

/// The rooms and workspaces that users share.
extension RoomsQueries {
  /// The other members of the user's rooms and workspaces, except workspaces in which the user is a guest.
  /// - Parameter limit: the most memberships that are read.
  /// - Returns: nil if there are more memberships, or the user has joined more rooms or workspaces than are compared.
  package func acquaintances(of user: UserID, limit: Int) throws -> Set<UserID>? {
    let spaces = try sharedSpaces(of: user)
    guard spaces.isComplete, try memberships(in: spaces, atMost: UInt64(limit)) else { return nil }
    var found: Set<UserID> = []
    let roomMembers = try CachedStatement(database, "SELECT userId FROM member WHERE roomId = ?")
    for room in spaces.rooms { try roomMembers.forEach(room) { found.insert(try $0.id()) } }
    let workspaceMembers = try CachedStatement(database, "SELECT userId FROM workspaceMember WHERE workspaceId = ?")
    for workspace in spaces.workspaces { try workspaceMembers.forEach(workspace) { found.insert(try $0.id()) } }
    found.remove(user)
    return found
  }

  /// Those of `others` who share a room or a workspace with the user, in the same order. A workspace in which the user is
  /// a guest does not count; one in which only the other user is a guest counts. Only the rooms and workspaces that each
  /// user joined last are compared: at most `Limits.spacesComparedBySearch`.
  /// - Parameters:
  ///   - limit: ends the search when so many were found.
  ///   - mostExamined: the memberships of `others` that are read. The search ends when there were more.
  /// - Returns: whether all were compared.
  package func sharing(
    with user: UserID, among others: [UserID], limit: Int, examining mostExamined: Int
  ) throws -> (found: [UserID], isComplete: Bool) {
    let spaces = try sharedSpaces(of: user)
    var examined = 0
    var found: [UserID] = []
    for other in others {
      guard found.count < limit, examined < mostExamined else { return (found, isComplete: false) }
      if try shares(spaces, with: other, &examined) { found.append(other) }
    }
    return (found, isComplete: true)
  }

  private struct SharedSpaces {
    var rooms: Set<RoomID>
    var workspaces: Set<WorkspaceID>
    /// Whether these are all of the user's: fewer than `Limits.spacesComparedBySearch` of each were found.
    var isComplete: Bool
  }

  private static let latestRooms = """
    SELECT roomId FROM member INDEXED BY member_by_user_join WHERE userId = ? ORDER BY joinedPosition DESC LIMIT ?
    """
  private static let latestWorkspaces = """
    SELECT workspaceId, role FROM workspaceMember INDEXED BY workspaceMember_by_user WHERE userId = ?
    ORDER BY joinedPosition DESC LIMIT ?
    """

  /// The rooms and workspaces whose members the user may see. Without workspaces in which the user is a guest: guests see
  /// only who is in their rooms. Without those that were deleted, whose members can still have rows.
  private func sharedSpaces(of user: UserID) throws -> SharedSpaces {
    let isRoom = try CachedStatement(database, "SELECT 1 FROM room WHERE id = ?")
    let isWorkspace = try CachedStatement(
      database, "SELECT 1 FROM workspace WHERE id = ? AND deletedPosition IS NULL")
    let rooms = try CachedStatement(database, Self.latestRooms).all(user, Limits.spacesComparedBySearch) {
      try $0.id(RoomID.self)
    }
    let workspaces = try CachedStatement(database, Self.latestWorkspaces)
      .all(user, Limits.spacesComparedBySearch) {
        try (id: $0.id(WorkspaceID.self), role: $0.choice(WorkspaceRole.self))
      }
    let membersSeen = workspaces.filter { $0.role > .guest }.map(\.id)
    return SharedSpaces(
      rooms: Set(try rooms.filter { try isRoom.exists($0) }),
      workspaces: Set(try membersSeen.filter { try isWorkspace.exists($0) }),
      isComplete: rooms.count < Limits.spacesComparedBySearch && workspaces.count < Limits.spacesComparedBySearch)
  }

  /// Whether the spaces have at most `limit` members. A user counts once for each room and workspace.
  private func memberships(in spaces: SharedSpaces, atMost limit: UInt64) throws -> Bool {
    let ofRoom = try CachedStatement(database, "SELECT memberCount FROM room WHERE id = ?")
    let ofWorkspace = try CachedStatement(database, "SELECT memberCount FROM workspace WHERE id = ?")
    var count: UInt64 = 0
    for room in spaces.rooms {
      count += try ofRoom.first(room) { try $0.unsigned() } ?? 0
      if count > limit { return false }
    }
    for workspace in spaces.workspaces {
      count += try ofWorkspace.first(workspace) { try $0.unsigned() } ?? 0
      if count > limit { return false }
    }
    return true
  }

  /// - Parameter examined: adds how many memberships were read.
  private func shares(_ spaces: SharedSpaces, with other: UserID, _ examined: inout Int) throws -> Bool {
    var isShared = false
    try CachedStatement(database, Self.latestRooms).readWhile(other, Limits.spacesComparedBySearch) {
      isShared = spaces.rooms.contains(try $0.id())
      examined += 1
      return !isShared
    }
    if isShared { return true }
    try CachedStatement(database, Self.latestWorkspaces).readWhile(other, Limits.spacesComparedBySearch) {
      isShared = spaces.workspaces.contains(try $0.id())
      examined += 1
      return !isShared
    }
    return isShared
  }
}
