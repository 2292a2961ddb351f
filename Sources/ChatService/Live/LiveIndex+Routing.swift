import ChatDomain
import ChatPrimitives
import ChatProjections

/// The users in the index whom the events of one cycle concern.
struct LiveWakes: Sendable, Equatable {
  /// Users who have to read.
  var readers: Set<UserID> = []
  /// In the order of their positions. Users who only see these need not read.
  var messages: [LiveMessage] = []
  /// Users who are not in the index, and whose new profile or hidden markers concern the members of all their rooms and
  /// workspaces. Their rooms and workspaces have to be read.
  var profiles: Set<UserID> = []

  /// All users whom the events concern, but not those who see `profiles`.
  var users: Set<UserID> { messages.reduce(into: readers) { $0.formUnion($1.audience) } }
}

/// Whom an event concerns follows from where the read models note changes: `RoomsBatch+Changes`, `WorkspaceWriter`,
/// `ScheduledRows`, `AccountsWriter+Changes` and `TimelineBatch+Changes`.
extension LiveIndex {
  /// Adds the users whom an event concerns. Call it before `apply`.
  func collect(_ recorded: RecordedEvent, into wakes: inout LiveWakes) {
    switch recorded.event {
    case .user(let user, let event): collect(event, of: user, into: &wakes)
    case .room(let room, .messages(.sent(_, let author, nil, .some))) where !members[room].isEmpty:
      wakes.messages.append(
        LiveMessage(position: recorded.position, room: room, author: author, audience: members[room]))
      // The message can be a scheduled one, which its author's client removes.
      for user in [author, recorded.actor].compactMap(\.self) where authors[room].contains(user) {
        add(user, to: &wakes)
      }
    case .room(let room, let event): collect(event, in: room, by: recorded.actor, into: &wakes)
    case .workspace(let workspace, let event): collect(event, in: workspace, into: &wakes)
    // No item shows these.
    case .server: break
    }
  }

  /// The users in the index who are in one of a user's rooms or workspaces.
  func members(of spaces: UserSpaces) -> Set<UserID> {
    var found: Set<UserID> = []
    for room in spaces.rooms { found.formUnion(members[room]) }
    for workspace in spaces.workspaces { found.formUnion(workspaceMembers[workspace]) }
    return found
  }

  private func add(_ user: UserID?, to wakes: inout LiveWakes) {
    if let user, contains(user) { wakes.readers.insert(user) }
  }

  // MARK: - Users

  private func collect(_ event: UserEvent, of user: UserID, into wakes: inout LiveWakes) {
    switch event {
    case .account(.profileChanged(let edit)):
      add(user, to: &wakes)
      if !edit.isEmpty { addThoseWhoSee(user, to: &wakes) }
    case .account(.preferencesSet(let edit)):
      add(user, to: &wakes)
      if edit.sharesReadMarkers != nil { addThoseWhoSee(user, to: &wakes) }
    case .deletion(.deleted):
      add(user, to: &wakes)
      addThoseWhoSee(user, to: &wakes)
    case .account(.registered), .account(.emailSet), .account(.disabled), .account(.enabled), .logins, .sessions,
      .devices, .blocks, .deletion(.erased), .erased:
      add(user, to: &wakes)
    // An upload is not an item until a message contains it.
    case .media: break
    }
  }

  private func addThoseWhoSee(_ user: UserID, to wakes: inout LiveWakes) {
    guard contains(user) else {
      wakes.profiles.insert(user)
      return
    }
    for room in members.spaces(of: user) { wakes.readers.formUnion(members[room]) }
    for workspace in workspaceMembers.spaces(of: user) { wakes.readers.formUnion(workspaceMembers[workspace]) }
  }

  // MARK: - Rooms

  private func collect(_ event: RoomEvent, in room: RoomID, by actor: UserID?, into wakes: inout LiveWakes) {
    switch event {
    case .lifecycle(.created(let creation)):
      add(creation.creator, to: &wakes)
      if creation.isPublic, let workspace = creation.workspace { wakes.readers.formUnion(workspaceMembers[workspace]) }
    case .lifecycle(.edited), .lifecycle(.archived), .lifecycle(.restored):
      addMembersAndFinders(of: room, to: &wakes)
    case .lifecycle(.deleted):
      addMembersAndFinders(of: room, to: &wakes)
      wakes.readers.formUnion(authors[room])
    case .members(let event):
      collect(event, in: room, into: &wakes)
    case .messages, .annotations:
      wakes.readers.formUnion(members[room])
      // The author of a scheduled message that was sent.
      add(actor, to: &wakes)
    case .reading(.markerMoved(let user, _, _)):
      add(user, to: &wakes)
      // The room had at least this many members, so others do not follow the marker. A user in the index who joined after
      // this event is counted too early: then no read from now on shows the marker either.
      if members[room].count <= Int(Limits.receiptMembers) { wakes.readers.formUnion(members[room]) }
    case .reading(.markedUnread(let user, _, _)), .threads(.markerMoved(let user, _, _)),
      .threads(.followingSet(let user, _, _)):
      add(user, to: &wakes)
    case .scheduling(.scheduled(_, let message)):
      add(message?.author ?? actor, to: &wakes)
    case .scheduling(.changed), .scheduling(.cancelled), .scheduling(.failed):
      // These events do not have the author.
      wakes.readers.formUnion(authors[room])
    // Moderation data is never an item.
    case .sharing, .reports: break
    case .erased:
      addMembersAndFinders(of: room, to: &wakes)
      wakes.readers.formUnion(authors[room])
      add(actor, to: &wakes)
    }
  }

  private func collect(_ event: RoomEvent.Members, in room: RoomID, into wakes: inout LiveWakes) {
    switch event {
    case .joined(let user, _, _), .added(let user, _), .left(let user), .removed(let user), .banned(let user):
      add(user, to: &wakes)
      // The count of members changed, which those who can find the room see.
      addMembersAndFinders(of: room, to: &wakes)
    case .roleChanged(let user, _), .silenced(let user, _):
      add(user, to: &wakes)
      wakes.readers.formUnion(members[room])
    case .muted(let user, _), .notificationsSet(let user, _), .hidden(let user), .shown(let user):
      add(user, to: &wakes)
    case .admissionRepeated, .unbanned:
      break
    }
  }

  /// The room's members, and those of the workspace if it is a public channel.
  private func addMembersAndFinders(of room: RoomID, to wakes: inout LiveWakes) {
    wakes.readers.formUnion(members[room])
    if let workspace = channels.workspace(of: room) { wakes.readers.formUnion(workspaceMembers[workspace]) }
  }

  // MARK: - Workspaces

  private func collect(_ event: WorkspaceEvent, in workspace: WorkspaceID, into wakes: inout LiveWakes) {
    switch event {
    case .lifecycle(.created(let creation)):
      add(creation.creator, to: &wakes)
    case .lifecycle(.edited), .erased:
      wakes.readers.formUnion(workspaceMembers[workspace])
    case .lifecycle(.deleted):
      wakes.readers.formUnion(workspaceMembers[workspace])
      wakes.readers.formUnion(invited[workspace])
    case .members(.joined(let user, _, _)), .members(.left(let user)), .members(.removed(let user)),
      .members(.roleChanged(let user, _)):
      add(user, to: &wakes)
      wakes.readers.formUnion(workspaceMembers[workspace])
    case .invitations(.invited(let user, _)), .invitations(.withdrawn(let user)):
      add(user, to: &wakes)
    case .members(.admissionRepeated), .sharing:
      break
    }
  }
}
