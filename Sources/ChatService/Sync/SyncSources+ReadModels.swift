import ChatDomain
import ChatPrimitives
import ChatProjections

/// A room of a catch-up.
struct SyncedRoom: Sendable, Hashable {
  var id: RoomID
  /// Where the user became a member.
  var joined: LogPosition
}

// MARK: - rooms

/// Where `rooms` names what changed for a user.
struct RoomsSources {
  let rooms: RoomsQueries
  let user: UserID
  let range: SyncRange
  let filter: SyncFilter

  /// What is the user's own except the threads, and the workspaces.
  func own() throws -> [SyncMerge.Source] {
    let (rooms, user, range) = (rooms, user, range)
    func changes(_ entity: @escaping (ChangedEntity) -> SyncEntity?) -> SyncMerge.Source {
      SyncSources.changes(
        { try rooms.changes(in: .user(user), after: $0, through: range.target, limit: $1) }, entity: entity)
    }
    // The user may still be able to find a room that was left.
    let findable = changes { $0.type == .room ? .room(RoomID($0.id)) : nil }
    let cleared = try rooms.deletionsInProgress(of: user, after: range.since, through: range.target)
    return try [changes { SyncEntity($0) }, findable]
      + cleared.compactMap { change in SyncEntity(change.entity).map { SyncSources.single(change.position, $0) } }
      + rooms.joinedWorkspaces(of: user).flatMap { try workspace($0) }
  }

  /// The threads that the user follows or no longer follows.
  func following() -> [SyncMerge.Source] {
    let (rooms, user, range) = (rooms, user, range)
    guard filter.wants(.thread) else { return [] }
    return [
      SyncSources.source { after, limit in
        try rooms.changedFollowing(of: user, after: after, through: range.target, limit: limit).map {
          ($0.position, .thread($0.root, in: $0.room))
        }
      }
    ]
  }

  private func workspace(_ joined: JoinedWorkspace) throws -> [SyncMerge.Source] {
    let (rooms, range, workspace) = (rooms, range, joined.workspace)
    var sources: [SyncMerge.Source] = []
    if range.contains(joined.changed) {
      sources.append(SyncSources.single(joined.changed, .workspace(workspace)))
    }
    guard joined.role >= .member else { return sources }
    if [.room, .workspaceMember, .user].contains(where: { filter.wants($0) }) {
      sources.append(
        SyncSources.changes(
          { try rooms.changes(in: .workspace(workspace), after: $0, through: range.target, limit: $1) },
          entity: { SyncEntity($0, in: workspace) }))
    }
    if filter.wants(.workspaceMember) {
      sources.append(
        SyncSources.source { after, limit in
          try rooms.joins(of: workspace, after: after, through: range.target, limit: limit).map {
            ($0.position, .workspaceMember(UserID($0.entity.id), of: workspace))
          }
        })
    }
    let own = ChangedEntity(type: .workspace, id: workspace.uuid)
    guard let seen = try rooms.changePosition(of: own, in: .user(user)), range.contains(seen) else { return sources }
    if filter.wants(.workspaceMember) {
      sources.append(
        SyncSources.whole(.workspaceMember, in: workspace.uuid, at: seen) { last, limit in
          try rooms.memberIDs(of: workspace, after: last?.user, limit: limit).map {
            .workspaceMember($0, of: workspace)
          }
        })
    }
    if filter.wants(.room) {
      sources.append(
        SyncSources.whole(.channel, in: workspace.uuid, at: seen) { last, limit in
          try rooms.publicChannels(of: workspace, after: last?.room, limit: limit).map { .channel($0, of: workspace) }
        })
    }
    return sources
  }

  /// What changed in one room of which the user is a member, except the room itself.
  func contents(_ synced: SyncedRoom, _ row: RoomRow) -> [SyncMerge.Source] {
    let (rooms, range, room) = (rooms, range, synced.id)
    let hasMarkers = row.largeSince == nil && filter.wants(.readMarker)
    var sources: [SyncMerge.Source] = []
    if hasMarkers || filter.wants(.member) || filter.wants(.user) {
      sources.append(
        SyncSources.changes(
          { try rooms.changes(in: .room(room), after: $0, through: range.target, limit: $1) },
          entity: { SyncEntity($0, in: room) }))
    }
    func joins(_ entity: @escaping (UserID) -> SyncEntity) -> SyncMerge.Source {
      SyncSources.source { after, limit in
        try rooms.joins(of: room, after: after, through: range.target, limit: limit).map {
          ($0.position, entity(UserID($0.entity.id)))
        }
      }
    }
    if filter.wants(.member) { sources.append(joins { .member($0, of: room) }) }
    // A member who left and returned has lost the marker, although there is no tombstone of the member.
    if hasMarkers { sources.append(joins { .readMarker($0, in: room) }) }
    if filter.wants(.thread) {
      sources.append(
        SyncSources.source { after, limit in
          try rooms.changedThreads(of: room, after: after, through: range.target, limit: limit).map {
            ($0.position, .thread($0.root, in: room))
          }
        })
    }
    if hasMarkers {
      sources.append(
        SyncSources.source { after, limit in
          try rooms.markerMoves(in: room, after: after, through: range.target).map {
            ($0.position, .readMarker(UserID($0.entity.id), in: room))
          }
        })
    }
    guard range.contains(synced.joined) else { return sources }
    func members(_ kind: SyncEntity.Kind, _ entity: @escaping (UserID) -> SyncEntity) -> SyncMerge.Source {
      SyncSources.whole(kind, in: room.uuid, at: synced.joined) { last, limit in
        try rooms.memberIDs(of: room, after: last?.user, limit: limit).map(entity)
      }
    }
    if filter.wants(.member) { sources.append(members(.member) { .member($0, of: room) }) }
    if hasMarkers { sources.append(members(.readMarker) { .readMarker($0, in: room) }) }
    return sources
  }
}

extension SyncEntity {
  /// The user whose membership or marker this is.
  fileprivate var user: UserID? {
    switch self {
    case .workspaceMember(let user, _), .member(let user, _), .readMarker(let user, _): user
    default: nil
    }
  }
}

// MARK: - accounts

extension AccountsQueries {
  /// Where `accounts` names what changed of a user's own entities.
  func syncSources(of user: UserID, _ range: SyncRange) throws -> [SyncMerge.Source] {
    var sources = [
      SyncSources.changes(
        { try self.changes(of: user, after: $0, through: range.target, limit: $1) }, entity: { SyncEntity($0) })
    ]
    if let registered = try self.user(user)?.registered.position, range.contains(registered) {
      sources += [.account, .preferences].map { SyncSources.single(registered, $0) }
    }
    return sources
  }
}
