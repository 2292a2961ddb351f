package import ChatPrimitives

/// The rooms and workspaces whose events concern a user.
package struct UserSpaces: Sendable, Hashable {
  /// The rooms of which the user is a member.
  package var rooms: [RoomID]
  /// The rooms in which the user has scheduled a message. The user can have left them.
  package var scheduled: [RoomID]
  /// The workspaces of which the user is a member.
  package var workspaces: [WorkspaceID]
  /// The public channels of these workspaces, as far as they were asked for.
  package var channels: [WorkspaceID: [RoomID]]
  /// The workspaces to which the user is invited.
  package var invitations: [WorkspaceID]

  package init(
    rooms: [RoomID] = [], scheduled: [RoomID] = [], workspaces: [WorkspaceID] = [],
    channels: [WorkspaceID: [RoomID]] = [:], invitations: [WorkspaceID] = []
  ) {
    self.rooms = rooms
    self.scheduled = scheduled
    self.workspaces = workspaces
    self.channels = channels
    self.invitations = invitations
  }
}

extension RoomsQueries {
  /// Can include rooms and workspaces that were deleted, until their rows are removed.
  /// - Parameter needsChannels: whether to read the channels of a workspace.
  package func spaces(
    of user: UserID, channelsOf needsChannels: (WorkspaceID) -> Bool = { _ in true }
  ) throws -> UserSpaces {
    var spaces = UserSpaces()
    spaces.rooms = try CachedStatement(database, "SELECT roomId FROM member INDEXED BY member_by_user WHERE userId = ?")
      .all(user) { try $0.id() }
    spaces.scheduled = try CachedStatement(
      database, "SELECT DISTINCT roomId FROM scheduled INDEXED BY scheduled_by_author WHERE author = ?"
    ).all(user) { try $0.id() }
    spaces.invitations = try CachedStatement(
      database, "SELECT workspaceId FROM invitation INDEXED BY invitation_by_user WHERE userId = ?"
    ).all(user) { try $0.id() }
    spaces.workspaces = try CachedStatement(
      database, "SELECT workspaceId FROM workspaceMember INDEXED BY workspaceMember_by_user WHERE userId = ?"
    ).all(user) { try $0.id() }
    for workspace in spaces.workspaces where needsChannels(workspace) {
      spaces.channels[workspace] = try publicChannels(of: workspace, after: nil, limit: Limits.channelsPerWorkspace)
    }
    return spaces
  }
}
