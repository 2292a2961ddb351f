import ChatDomain
import ChatPrimitives
import ChatProjections

/// Finds the users with open streams whom an event concerns. The result is a hint: a stream that is woken for nothing reads
/// nothing, but a change for which a stream is not woken would be delivered too late.
///
/// The index has each user as of a snapshot of `rooms` at some position. Then every event from an earlier position on is
/// applied to it. Events up to the snapshot do not have to find the user, because the feed wakes the user's streams with the
/// snapshot's position. Applying them again does no harm: the last event about a membership decides, and it agrees with
/// the snapshot. So after the events up to any position at or beyond the snapshot, the index has exactly the memberships
/// of that position.
struct LiveIndex: Sendable {
  private(set) var users: Set<UserID> = []
  private(set) var members = LiveAudience<RoomID>()
  private(set) var workspaceMembers = LiveAudience<WorkspaceID>()
  /// Authors of scheduled messages. An author can have left the room, and still learns of its deletion. Has more authors
  /// than necessary, because a message that was sent does not remove its author.
  private(set) var authors = LiveAudience<RoomID>()
  /// Invited users, who learn of the deletion of the workspace. Has more users than necessary, too.
  private(set) var invited = LiveAudience<WorkspaceID>()
  /// The public channels of the workspaces in the index.
  private(set) var channels = LiveChannels()
  /// Users who have to be read again, because they joined a workspace whose channels are not known.
  private(set) var outdated: Set<UserID> = []

  func contains(_ user: UserID) -> Bool { users.contains(user) }

  /// Whether the channels of a workspace have to be read with the user.
  func needsChannels(of workspace: WorkspaceID) -> Bool { !channels.contains(workspace) }

  /// Adds a user, or replaces what the index has of the user.
  mutating func set(_ spaces: UserSpaces, of user: UserID) {
    users.insert(user)
    for (workspace, rooms) in spaces.channels { channels.set(rooms, of: workspace) }
    for workspace in spaces.workspaces { workspaceMembers.insert(user, workspace) }
    for workspace in workspaceMembers.spaces(of: user).subtracting(spaces.workspaces) {
      leave(workspace, user)
    }
    members.remove(user)
    for room in spaces.rooms { members.insert(user, room) }
    for room in spaces.scheduled { authors.insert(user, room) }
    for workspace in spaces.invitations { invited.insert(user, workspace) }
  }

  mutating func remove(_ user: UserID) {
    users.remove(user)
    outdated.remove(user)
    members.remove(user)
    authors.remove(user)
    invited.remove(user)
    for workspace in workspaceMembers.spaces(of: user) { leave(workspace, user) }
  }

  /// - Returns: the users who have to be read again.
  mutating func takeOutdated() -> Set<UserID> {
    defer { outdated = [] }
    return outdated
  }

  private mutating func leave(_ workspace: WorkspaceID, _ user: UserID) {
    workspaceMembers.remove(user, workspace)
    if !workspaceMembers.contains(workspace) { channels.forget(workspace) }
  }

  // MARK: - Events

  /// Applies an event. Call it after `collect`, because a user who loses something must be found before.
  mutating func apply(_ event: ChatEvent) {
    switch event {
    case .room(let room, let event): apply(event, in: room)
    case .workspace(let workspace, let event): apply(event, in: workspace)
    case .user, .server: break
    }
  }

  private mutating func apply(_ event: RoomEvent, in room: RoomID) {
    switch event {
    case .lifecycle(.created(let creation)):
      if creation.isPublic, let workspace = creation.workspace, channels.contains(workspace) {
        channels.insert(room, of: workspace)
      }
    case .lifecycle(.deleted):
      members.remove(room)
      authors.remove(room)
      channels.remove(room)
    case .members(.joined(let user, _, _)), .members(.added(let user, _)):
      if contains(user) { members.insert(user, room) }
    case .members(.left(let user)), .members(.removed(let user)), .members(.banned(let user)):
      members.remove(user, room)
    case .scheduling(.scheduled(_, let message)):
      if let author = message?.author, contains(author) { authors.insert(author, room) }
    case .lifecycle(.edited), .lifecycle(.archived), .lifecycle(.restored), .members(.admissionRepeated),
      .members(.roleChanged), .members(.unbanned), .members(.silenced), .members(.muted), .members(.notificationsSet),
      .members(.hidden), .members(.shown),
      .scheduling(.changed), .scheduling(.cancelled), .scheduling(.failed), .sharing, .messages, .annotations, .reading,
      .threads, .reports,
      .erased:
      break
    }
  }

  private mutating func apply(_ event: WorkspaceEvent, in workspace: WorkspaceID) {
    switch event {
    case .lifecycle(.deleted):
      for user in workspaceMembers[workspace] { leave(workspace, user) }
      invited.remove(workspace)
    case .members(.joined(let user, _, _)):
      guard contains(user) else { return }
      if needsChannels(of: workspace) { outdated.insert(user) }
      workspaceMembers.insert(user, workspace)
    case .members(.left(let user)), .members(.removed(let user)):
      leave(workspace, user)
    case .invitations(.invited(let user, _)):
      if contains(user) { invited.insert(user, workspace) }
    case .lifecycle(.created), .lifecycle(.edited), .members(.admissionRepeated), .members(.roleChanged),
      .invitations(.withdrawn), .sharing, .erased:
      break
    }
  }
}

/// The public channels of workspaces.
struct LiveChannels: Sendable {
  private var workspaces: [RoomID: WorkspaceID] = [:]
  private var rooms: [WorkspaceID: Set<RoomID>] = [:]

  /// Whether the channels of a workspace are known. It can have none.
  func contains(_ workspace: WorkspaceID) -> Bool { rooms[workspace] != nil }

  func workspace(of room: RoomID) -> WorkspaceID? { workspaces[room] }

  mutating func set(_ channels: [RoomID], of workspace: WorkspaceID) {
    forget(workspace)
    rooms[workspace] = []
    for room in channels { insert(room, of: workspace) }
  }

  mutating func insert(_ room: RoomID, of workspace: WorkspaceID) {
    workspaces[room] = workspace
    rooms[workspace, default: []].insert(room)
  }

  mutating func remove(_ room: RoomID) {
    guard let workspace = workspaces.removeValue(forKey: room) else { return }
    rooms[workspace]?.remove(room)
  }

  mutating func forget(_ workspace: WorkspaceID) {
    for room in rooms.removeValue(forKey: workspace) ?? [] { workspaces[room] = nil }
  }
}
