import ChatDomain
import ChatPrimitives
import ChatProjections

/// The range of a catch-up: everything that changed after `since`, up to `target`.
struct SyncRange: Sendable, Hashable {
  var since: LogPosition
  var target: LogPosition

  func contains(_ position: LogPosition) -> Bool { position > since && position <= target }
}

extension SyncEntity {
  /// An entity that a read model noted for a user.
  init?(_ entity: ChangedEntity) {
    switch entity.type {
    case .account: self = .account
    case .preferences: self = .preferences
    case .device: self = .device(DeviceID(entity.id))
    case .session: self = .session(SessionID(entity.id))
    case .blockedUser: self = .blockedUser(UserID(entity.id))
    case .workspace: self = .workspace(WorkspaceID(entity.id))
    case .invitation: self = .invitation(WorkspaceID(entity.id))
    case .scheduledMessage: self = .scheduledMessage(MessageID(entity.id), in: RoomID(entity.room))
    case .room: self = .lostRoom(RoomID(entity.id))
    case .workspaceMember, .member, .readMarker, .user: return nil
    }
  }

  /// An entity that a read model noted for a room.
  init?(_ entity: ChangedEntity, in room: RoomID) {
    switch entity.type {
    case .member: self = .member(UserID(entity.id), of: room)
    case .readMarker: self = .readMarker(UserID(entity.id), in: room)
    case .user: self = .user(UserID(entity.id))
    default: return nil
    }
  }

  /// An entity that a read model noted for a workspace.
  init?(_ entity: ChangedEntity, in workspace: WorkspaceID) {
    switch entity.type {
    case .room: self = .channel(RoomID(entity.id), of: workspace)
    case .workspaceMember: self = .workspaceMember(UserID(entity.id), of: workspace)
    case .user: self = .user(UserID(entity.id))
    default: return nil
    }
  }
}

/// Makes sources from queries. Each query continues after a position; a source continues after a point, which can be in the
/// middle of what changed at one position. So it reads that position again and leaves out what comes before.
enum SyncSources {
  /// - Parameters:
  ///   - repeated: the maximum number of rows with one position.
  ///   - read: returns the first rows after a position, at most as many as the number says.
  static func source(
    repeated: Int = 1, _ read: @escaping (LogPosition, Int) throws -> [(LogPosition, SyncEntity)]
  ) -> SyncMerge.Source {
    { start, limit in
      let before = LogPosition(start.position.value - min(start.position.value, 1))
      let points = try read(before, limit + repeated).map { SyncPoint($0.0, key: $0.1.key) }
      return Array(points.lazy.filter { $0 > start }.prefix(limit))
    }
  }

  /// A source with at most one entity.
  static func single(_ position: LogPosition, _ entity: SyncEntity) -> SyncMerge.Source {
    let point = SyncPoint(position, key: entity.key)
    return { start, _ in point > start ? [point] : [] }
  }

  /// The changes that a read model noted in one scope.
  /// - Parameter entity: what a change means; nil for nothing. Must keep the order.
  static func changes(
    _ read: @escaping (ChangeStart, Int) throws -> [Change], entity: @escaping (ChangedEntity) -> SyncEntity?
  ) -> SyncMerge.Source {
    { start, limit in
      var points: [SyncPoint] = []
      var next = ChangeStart.after(LogPosition(start.position.value - min(start.position.value, 1)))
      while points.count < limit {
        let page = try read(next, limit)
        for change in page {
          guard let entity = entity(change.entity) else { continue }
          let point = SyncPoint(change.position, key: entity.key)
          if point > start { points.append(point) }
        }
        guard page.count == limit, let last = page.last else { break }
        next = .after(last)
      }
      return Array(points.prefix(limit))
    }
  }

  /// All entities of one kind in a room or workspace, at the position where these came into the user's sight.
  /// - Parameter read: returns the first entities, in the order of keys, after one of this kind and container.
  static func whole(
    _ kind: SyncEntity.Kind, in container: UUIDBytes, at position: LogPosition,
    _ read: @escaping (SyncEntity?, Int) throws -> [SyncEntity]
  ) -> SyncMerge.Source {
    let prefix = kind.prefix(container)
    return { start, limit in
      guard start.position <= position else { return [] }
      var last: SyncEntity?
      if start.position == position, !start.key.lexicographicallyPrecedes(prefix) {
        guard start.key.starts(with: prefix) else { return [] }
        last = SyncEntity(key: start.key)
      }
      return try read(last, limit).map { SyncPoint(position, key: $0.key) }
    }
  }
}
