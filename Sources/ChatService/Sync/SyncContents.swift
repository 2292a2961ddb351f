import ChatDomain
import ChatPrimitives
import ChatProjections

/// Reads the entities that sources of `rooms` name. An entity is part of a response only at its revision: the last
/// position at which it changed for the user, or came into the user's sight. At an earlier position it is left out,
/// because a later one has it.
///
/// So a source may name too much, and need not know the others. But each position that can be a revision must have a source
/// that names the entity there.
struct RoomsContents {
  let rooms: RoomsQueries
  let user: UserID
  /// Rooms that are muted at this time do not count.
  let now: Timestamp

  /// Nil if `position` is not the entity's revision, or if there is nothing to say about it.
  func content(of entity: SyncEntity, at position: LogPosition) throws -> SyncItem.Content? {
    switch entity {
    case .workspace(let id): try workspace(id, position)
    case .workspaceMember(let member, let id): try workspaceMember(member, of: id, position)
    case .invitation(let id):
      try own(entity, .invitation, id.uuid, position) {
        guard let row = try rooms.invitation(of: user, into: id), let workspace = try rooms.workspace(id) else {
          return nil
        }
        return .invitation(row, workspace)
      }
    case .scheduledMessage(let id, let room): try scheduledMessage(id, in: room, position)
    case .lostRoom: .removed(entity)
    case .room(let id): try room(id, position)
    case .channel(let id, let workspace): try channel(id, of: workspace, position)
    case .member(let member, let room): try self.member(member, of: room, position)
    case .readMarker(let member, let room): try readMarker(member, in: room, position)
    case .user(let id): try rooms.profiles(of: [id])[id].map { .user(id, $0) }
    case .account, .preferences, .device, .session, .blockedUser, .thread, .message, .gap: nil
    }
  }

  /// The noted position of an entity; the origin if it was never noted.
  private func noted(_ type: ChangeType, _ id: UUIDBytes, in scope: ChangeScope) throws -> LogPosition {
    try rooms.changePosition(of: ChangedEntity(type: type, id: id), in: scope) ?? .origin
  }

  // MARK: - The user's own

  /// An entity whose revision is the position in the user's scope. A deletion in progress is not noted yet.
  private func own(
    _ entity: SyncEntity, _ type: ChangeType, _ id: UUIDBytes, room: UUIDBytes = .zero, _ position: LogPosition,
    _ read: () throws -> SyncItem.Content?
  ) throws -> SyncItem.Content? {
    if let content = try read() {
      let changed = ChangedEntity(type: type, id: id, room: room)
      return try rooms.changePosition(of: changed, in: .user(user)) == position ? content : nil
    }
    return .removed(entity)
  }

  private func scheduledMessage(
    _ id: MessageID, in room: RoomID, _ position: LogPosition
  ) throws -> SyncItem.Content? {
    try own(.scheduledMessage(id, in: room), .scheduledMessage, id.uuid, room: room.uuid, position) {
      // The rows of a deleted room are removed later.
      guard try rooms.room(room) != nil, let row = try rooms.scheduledMessage(id, of: room),
        row.message.author == user
      else { return nil }
      return .scheduledMessage(row)
    }
  }

  // MARK: - Workspaces

  private func workspace(_ id: WorkspaceID, _ position: LogPosition) throws -> SyncItem.Content? {
    guard var row = try rooms.workspaceListRow(id, for: user) else { return .removed(.workspace(id)) }
    let seen = try noted(.workspace, id.uuid, in: .user(user))
    guard try max(rooms.changePosition(of: id) ?? .origin, seen) == position else { return nil }
    row.badge = try rooms.workspaceBadge(of: user, in: id, at: now)
    return .workspace(row)
  }

  /// Where the members and public channels of a workspace came into the user's sight. Nil if the user does not see them.
  private func sight(of workspace: WorkspaceID) throws -> LogPosition? {
    guard let own = try rooms.member(user, of: workspace), own.role >= .member else { return nil }
    return try noted(.workspace, workspace.uuid, in: .user(user))
  }

  private func workspaceMember(
    _ member: UserID, of id: WorkspaceID, _ position: LogPosition
  ) throws -> SyncItem.Content? {
    guard let seen = try sight(of: id) else { return nil }
    let changed = try noted(.workspaceMember, member.uuid, in: .workspace(id))
    guard let row = try rooms.member(member, of: id) else {
      return changed == position ? .removed(.workspaceMember(member, of: id)) : nil
    }
    return max(row.joined.position, changed, seen) == position ? .workspaceMember(row, of: id) : nil
  }

  /// A public channel of a workspace, for a user who is not a member of the channel. `room` has it for a member.
  private func channel(_ id: RoomID, of workspace: WorkspaceID, _ position: LogPosition) throws -> SyncItem.Content? {
    guard let seen = try sight(of: workspace), try rooms.member(user, of: id) == nil else { return nil }
    let changed = try noted(.room, id.uuid, in: .workspace(workspace))
    let lost = try noted(.room, id.uuid, in: .user(user))
    // If the user lost the room here, `room` has it.
    guard lost != position else { return nil }
    // A new role does not repeat tombstones: a client that was a guest only between two requests still has the channel.
    guard let row = try rooms.visibleRoom(id, for: user) else { return changed == position ? .removed(.room(id)) : nil }
    return max(changed, seen, lost) == position ? .room(row) : nil
  }

  // MARK: - Rooms

  private func room(_ id: RoomID, _ position: LogPosition) throws -> SyncItem.Content? {
    guard let row = try rooms.visibleRoom(id, for: user) else { return nil }
    if let member = row.member { return max(row.room.shown, member.own) == position ? .room(row) : nil }
    guard let workspace = row.room.workspace, let seen = try sight(of: workspace) else { return nil }
    let lost = try noted(.room, id.uuid, in: .user(user))
    return try max(noted(.room, id.uuid, in: .workspace(workspace)), seen, lost) == position ? .room(row) : nil
  }

  private func member(_ member: UserID, of room: RoomID, _ position: LogPosition) throws -> SyncItem.Content? {
    guard let own = try rooms.member(user, of: room) else { return nil }
    let changed = try noted(.member, member.uuid, in: .room(room))
    guard let row = try rooms.member(member, of: room) else {
      return changed == position ? .removed(.member(member, of: room)) : nil
    }
    return max(row.joined.position, changed, own.joined.position) == position ? .member(row) : nil
  }

  private func readMarker(_ member: UserID, in room: RoomID, _ position: LogPosition) throws -> SyncItem.Content? {
    guard let own = try rooms.member(user, of: room), try rooms.room(room)?.largeSince == nil else { return nil }
    let changed = try noted(.readMarker, member.uuid, in: .room(room))
    guard let row = try rooms.member(member, of: room) else { return nil }
    guard let read = row.read, let moved = row.markerPosition, try member == user || !rooms.hidesMarkers(member) else {
      // The marker of an earlier membership ends when the member returns. A member who never left has no row, or one for a
      // role; then the tombstone is harmless.
      let wasNoted = try noted(.member, member.uuid, in: .room(room)) > .origin
      let ended = max(changed, wasNoted ? row.joined.position : .origin)
      return ended == position ? .removed(.readMarker(member, in: room)) : nil
    }
    guard max(moved, changed, own.joined.position) == position else { return nil }
    return .readMarker(ReceiptRow(user: member, read: read, joined: row.joined.position), in: room)
  }

  /// All messages of a room, as messages that are not sent.
  func gap(in room: RoomID) throws -> SyncItem.Content? {
    guard try rooms.member(user, of: room) != nil, let row = try rooms.room(room), row.lastOrdinal > 0 else {
      return nil
    }
    return .gap(SyncGap(room: room, before: row.lastOrdinal + 1))
  }

  /// A thread without the message at its root, which is in another read model.
  func thread(_ root: UInt64, in room: RoomID, at position: LogPosition) throws -> SyncedThread? {
    guard let own = try rooms.member(user, of: room) else { return nil }
    if let (thread, changed) = try rooms.followedThread(root, in: room, of: user) {
      return max(changed, own.joined.position) == position ? SyncedThread(followed: thread) : nil
    }
    let following = try rooms.changePosition(ofFollowing: root, in: room, by: user)
    return following == position ? SyncedThread(followed: nil) : nil
  }
}

/// A thread that the user follows, or no longer follows.
struct SyncedThread: Sendable, Hashable {
  var followed: FollowedThread?
}

// MARK: - accounts

extension AccountsQueries {
  /// Nil if `position` is not the revision of the user's own entity.
  func content(of entity: SyncEntity, of user: UserID, at position: LogPosition) throws -> SyncItem.Content? {
    let changed: ChangedEntity
    let content: SyncItem.Content?
    var revision = LogPosition.origin
    switch entity {
    case .account:
      changed = ChangedEntity(type: .account, id: user.uuid)
      let row = try self.user(user)
      revision = row?.registered.position ?? .origin
      content = try row.map { .account($0, try identities(of: user)) }
    case .preferences:
      changed = ChangedEntity(type: .preferences, id: user.uuid)
      revision = try self.user(user)?.registered.position ?? .origin
      content = try preferences(of: user).map { .preferences($0) }
    case .device(let id):
      changed = ChangedEntity(type: .device, id: id.uuid)
      content = try device(id, of: user).map { .device($0) }
    case .session(let id):
      changed = ChangedEntity(type: .session, id: id.uuid)
      content = try session(id, of: user).flatMap { $0.end == nil ? .session($0) : nil }
    case .blockedUser(let id):
      changed = ChangedEntity(type: .blockedUser, id: id.uuid)
      content = try block(of: id, by: user).map { .blockedUser(BlockedUserRow(user: id, blocked: $0)) }
    default: return nil
    }
    revision = max(revision, try changePosition(of: changed, for: user) ?? .origin)
    return revision == position ? content ?? .removed(entity) : nil
  }
}
