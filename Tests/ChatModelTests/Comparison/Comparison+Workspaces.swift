import ChatDomain
import ChatPrimitives
import ChatProjections
import ChatService
import EventLogSimulation

extension Comparison {
  /// Compares the workspaces that a user is in, and those that a user may join.
  mutating func compareWorkspaces(of user: UserID) async throws {
    let limit = random.within(1...3)
    let expected = model.workspaces(of: user).map { listed($0, by: user) }
    var (found, cursor): ([SeenWorkspace], LogPosition?) = ([], nil)
    repeat {
      let page = try await chat.workspaces(of: user, after: cursor, limit: limit)
      found += page.workspaces.map { SeenWorkspace($0) }
      cursor = page.next
    } while cursor != nil && found.count <= expected.count
    try expect("workspaces of u\(user.short), \(limit) at a time", expected, found)

    let invitations = model.invitations(of: user).map { SeenInvitation($0.0, $0.1) }
    var seen: [SeenInvitation] = []
    cursor = nil
    repeat {
      let page = try await chat.invitations(of: user, before: cursor, limit: limit)
      seen += page.invitations.map { SeenInvitation($0) }
      cursor = page.next
    } while cursor != nil && seen.count <= invitations.count
    try expect("invitations of u\(user.short), \(limit) at a time", invitations, seen)
  }

  /// Compares one workspace as one user sees it.
  mutating func compareWorkspace(_ id: WorkspaceID, for user: UserID) async throws {
    let what = "w\(id.short) for u\(user.short)"
    guard let workspace = model.workspaces[id], workspace.exists, let member = workspace.member(user) else {
      let refused = try await result { () async throws(ServiceError) in
        SeenWorkspace(try await chat.workspace(id, for: user))
      }
      try expect("workspace \(what)", .refused("workspace_not_found"), refused)
      let channels = try await result { () async throws(ServiceError) in
        try await chat.channels(of: id, for: user, after: nil, limit: 3).rooms.map { SeenRoom($0) }
      }
      return try expect("channels of \(what)", .refused("workspace_not_found"), channels)
    }
    let found = SeenWorkspace(try await chat.workspace(id, for: user))
    try expect("workspace \(what)", listed(workspace, by: user), found)
    try await compareMembers(of: workspace, for: member)
    try await compareChannels(of: workspace, for: user)
    try await compareLinks(of: workspace, for: member)
  }

  private func listed(_ workspace: ModelWorkspace, by user: UserID) -> SeenWorkspace {
    let badge = model.badge(of: user, in: workspace.id, at: chat.now())
    return SeenWorkspace(workspace, workspace.member(user), unread: badge.unread, mentions: badge.mentions)
  }

  private mutating func compareMembers(of workspace: ModelWorkspace, for member: ModelWorkspaceMember) async throws {
    let limit = random.within(1...8)
    let found = try await result { () async throws(ServiceError) in
      var (found, cursor): ([SeenWorkspaceMember], LogPosition?) = ([], nil)
      repeat {
        let page = try await chat.members(of: workspace.id, for: member.user, after: cursor, limit: limit)
        found += page.members.map { SeenWorkspaceMember($0) }
        cursor = page.next
      } while cursor != nil && found.count <= workspace.members.count
      return found
    }
    try expect(
      "members of w\(workspace.id.short) for u\(member.user.short), \(limit) at a time",
      member.role == .guest ? .refused("forbidden") : .found(workspace.members.map { SeenWorkspaceMember($0) }), found)
  }

  private mutating func compareChannels(of workspace: ModelWorkspace, for user: UserID) async throws {
    let limit = random.within(1...4)
    let expected = model.channels(of: workspace.id).filter { model.visibility(of: $0, to: user) != .none }
      .map { SeenRoom($0, $0.member(user), model) }
    var (found, cursor): ([SeenRoom], LogPosition?) = ([], nil)
    repeat {
      let page = try await chat.channels(of: workspace.id, for: user, after: cursor, limit: limit)
      found += page.rooms.map { SeenRoom($0) }
      cursor = page.next
    } while cursor != nil && found.count <= expected.count
    try expect("channels of w\(workspace.id.short) for u\(user.short), \(limit) at a time", expected, found)
  }

  /// Compares the links and invitations, which only administrators see.
  private func compareLinks(of workspace: ModelWorkspace, for member: ModelWorkspaceMember) async throws {
    let isLeader = member.role >= .administrator
    let links = try await result { () async throws(ServiceError) in
      try await chat.invites(of: workspace.id, for: member.user).map { SeenInvite($0) }
    }
    let what = "of w\(workspace.id.short) for u\(member.user.short)"
    try expect(
      "invites \(what)",
      isLeader ? .found(workspace.invites.reversed().map { SeenInvite($0) }) : .refused("forbidden"), links)
    let invitations = try await result { () async throws(ServiceError) in
      try await chat.invitations(into: workspace.id, for: member.user, before: nil, limit: 200)
        .invitations.map { SeenInvitation($0) }
    }
    try expect(
      "invitations \(what)",
      isLeader
        ? .found(workspace.invitations.reversed().map { SeenInvitation(workspace.id, $0) }) : .refused("forbidden"),
      invitations)
    for invite in workspace.invites.suffix(2) {
      try await comparePreview(of: invite, in: workspace.id, for: member.user)
    }
  }
}

private struct SeenWorkspace: Equatable {
  let id: WorkspaceID
  let name: String
  let topic: String?
  let picture: MediaID?
  let memberCount: Int
  let created: Stamp?
  let revision: LogPosition
  let member: SeenWorkspaceMember?
  /// Counts in its channels.
  let unread: Int
  let mentions: Int

  init(_ workspace: ModelWorkspace, _ member: ModelWorkspaceMember?, unread: Int, mentions: Int) {
    id = workspace.id
    name = workspace.name
    topic = workspace.topic
    picture = workspace.picture
    memberCount = workspace.members.count
    created = workspace.created
    revision = workspace.revision
    self.member = member.map { SeenWorkspaceMember($0) }
    self.unread = unread
    self.mentions = mentions
  }

  init(_ row: WorkspaceListRow) {
    id = row.workspace.id
    name = row.workspace.name
    topic = row.workspace.topic
    picture = row.workspace.picture
    memberCount = Int(row.workspace.memberCount)
    created = row.workspace.created
    revision = row.workspace.revision
    member = SeenWorkspaceMember(row.member)
    unread = Int(row.badge.unread)
    mentions = Int(row.badge.mentions)
  }
}

private struct SeenWorkspaceMember: Equatable {
  let user: UserID
  let role: WorkspaceRole
  let joined: Stamp

  init(_ member: ModelWorkspaceMember) {
    user = member.user
    role = member.role
    joined = member.joined
  }

  init(_ row: WorkspaceMemberRow) {
    user = row.user
    role = row.role
    joined = row.joined
  }
}

private struct SeenInvitation: Equatable {
  let workspace: WorkspaceID
  let user: UserID
  let role: WorkspaceRole
  let by: UserID?
  let made: Stamp

  init(_ workspace: WorkspaceID, _ invitation: ModelInvitation) {
    self.workspace = workspace
    user = invitation.user
    role = invitation.role
    by = invitation.by
    made = invitation.stamp
  }

  init(_ row: InvitationRow) {
    workspace = row.workspace
    user = row.user
    role = row.role
    by = row.inviter
    made = row.made
  }
}
