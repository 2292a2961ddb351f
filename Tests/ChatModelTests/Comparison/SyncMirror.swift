import ChatDomain
import ChatPrimitives
import ChatProjections
import ChatService

/// What a client keeps of the items that it gets, by the rules of the contract.
struct SyncMirror {
  private(set) var entities: [SyncEntity: SyncItem.Content] = [:]
  private(set) var profiles: [UserID: Profile] = [:]
  private var gaps: [RoomID: SyncMirrorGaps] = [:]
  private var revisions: [SyncEntity: LogPosition] = [:]

  mutating func apply(_ item: SyncItem) {
    switch item.content {
    case .user(let user, let profile): profiles[user] = profile
    case .gap(let gap): apply(gap)
    case .removed(let entity): remove(entity, at: item.revision)
    case .unfollowedThread(let ordinal, _, let room): remove(.thread(ordinal, in: room), at: item.revision)
    default:
      guard let entity = item.content.entity, revisions[entity].map({ $0 <= item.revision }) ?? true else { return }
      revisions[entity] = item.revision
      entities[entity] = item.content.comparable
      if case .workspace(let row) = item.content, row.member.role == .guest { forgetSight(of: row.workspace.id) }
    }
  }

  private mutating func remove(_ entity: SyncEntity, at revision: LogPosition) {
    forget { other, content in
      switch (entity, other) {
      case (.lostRoom(let room), _): other.room == room && !other.isScheduled
      case (.channel(let room, _), .room(let id)): room == id
      case (.member(let user, let room), .readMarker(let reader, let place)): (user, room) == (reader, place)
      default: entity == other
      }
    }
    if case .workspace(let workspace) = entity { forgetSight(of: workspace) }
    if case .lostRoom(let room) = entity { gaps[room] = nil }
  }

  private mutating func apply(_ gap: SyncGap) {
    let until = entities.values.lazy.compactMap { content -> UInt64? in
      guard case .message(let message) = content, message.row.room == gap.room, message.row.id == gap.until else {
        return nil
      }
      return message.row.ordinal
    }.first
    gaps[gap.room, default: SyncMirrorGaps()].add(before: gap.before, until: until)
    guard gap.until == nil else { return }
    gaps[gap.room]?.lacksReplies = true
    forget { entity, _ in
      guard case .message(let location, gap.room) = entity else { return false }
      return location.isInThread || location.ordinal < gap.before
    }
  }

  /// Removes what only members of a workspace see who are not guests.
  private mutating func forgetSight(of workspace: WorkspaceID) {
    forget { entity, content in
      switch content {
      case .workspaceMember(_, let id): id == workspace
      case .room(let row): row.room.workspace == workspace && row.member == nil
      default: false
      }
    }
  }

  private mutating func forget(_ isGone: (SyncEntity, SyncItem.Content) -> Bool) {
    for (entity, content) in entities where isGone(entity, content) {
      entities[entity] = nil
      revisions[entity] = nil
    }
  }

  /// How this mirror differs from what queries show. The list of threads has none of archived rooms.
  func differences(from expected: SyncMirror) -> [String] {
    Set(entities.keys).union(expected.entities.keys).sorted { $0.description < $1.description }.flatMap { entity in
      if case .thread(_, let room) = entity, case .room(let row) = entities[.room(room)], row.room.archived != nil {
        return [String]()
      }
      if entities[entity] == nil, case .message(let location, let room) = entity,
        gaps[room]?.contains(location) == true
      {
        return []
      }
      let (found, wanted) = (entities[entity], expected.entities[entity])
      if found == wanted { return [] }
      return Mismatch("\(entity)", expected: wanted, found: found).map { ["\(entity)"] + $0.lines } ?? []
    }
  }

  init() {}

  /// A mirror that has been told everything.
  init(of contents: [SyncItem.Content]) {
    for content in contents {
      if let entity = content.entity { entities[entity] = content.comparable }
    }
  }
}

/// Which messages of a room a client may lack. It gets them when it pages back.
struct SyncMirrorGaps {
  private var ordinals: [Range<UInt64>] = []
  var lacksReplies = false

  /// - Parameter until: nil if the client does not have the message at the other end of the gap, or there is none.
  mutating func add(before: UInt64, until: UInt64?) {
    let first = until.map { $0 + 1 } ?? 0
    if first < before { ordinals.append(first..<before) }
  }

  func contains(_ location: MessageLocation) -> Bool {
    location.isInThread ? lacksReplies : ordinals.contains { $0.contains(location.ordinal) }
  }
}

extension SyncEntity: CustomStringConvertible {
  public var description: String {
    switch self {
    case .account: "account"
    case .preferences: "preferences"
    case .device(let id): "device \(id)"
    case .session(let id): "session \(id)"
    case .blockedUser(let user): "blocked u\(user.short)"
    case .workspace(let id): "workspace w\(id.short)"
    case .workspaceMember(let user, let id): "u\(user.short) of w\(id.short)"
    case .invitation(let id): "invitation into w\(id.short)"
    case .scheduledMessage(let id, let room): "scheduled m\(id.short) in r\(room.short)"
    case .lostRoom(let id): "lost r\(id.short)"
    case .room(let id): "room r\(id.short)"
    case .channel(let id, let workspace): "channel r\(id.short) of w\(workspace.short)"
    case .member(let user, let room): "u\(user.short) of r\(room.short)"
    case .readMarker(let user, let room): "marker of u\(user.short) in r\(room.short)"
    case .user(let id): "user u\(id.short)"
    case .thread(let root, let room): "thread \(root) in r\(room.short)"
    case .message(let location, let room): "message \(location.thread)/\(location.ordinal) in r\(room.short)"
    case .gap(let id): "gap in r\(id.short)"
    }
  }

  /// The room that the entity is, or is in.
  fileprivate var room: RoomID? {
    switch self {
    case .room(let id), .member(_, let id), .readMarker(_, let id), .thread(_, let id), .message(_, let id): id
    default: nil
    }
  }

  fileprivate var isScheduled: Bool {
    if case .scheduledMessage = self { true } else { false }
  }
}

extension SyncItem.Content {
  /// What the client stores this as. Nil for a tombstone and a user.
  var entity: SyncEntity? {
    switch self {
    case .account: .account
    case .preferences: .preferences
    case .device(let row): .device(row.id)
    case .session(let row): .session(row.id)
    case .blockedUser(let row): .blockedUser(row.user)
    case .workspace(let row): .workspace(row.workspace.id)
    case .workspaceMember(let row, let workspace): .workspaceMember(row.user, of: workspace)
    case .invitation(let row, _): .invitation(row.workspace)
    case .scheduledMessage(let row): .scheduledMessage(row.id, in: row.room)
    case .room(let row): .room(row.room.id)
    case .member(let row): .member(row.user, of: row.room)
    case .readMarker(let row, let room): .readMarker(row.user, in: room)
    case .thread(let thread, _): .thread(thread.root, in: thread.room)
    case .message(let message): .message(message.row.location, in: message.row.room)
    case .user, .badge, .gap, .unfollowedThread, .removed: nil
    }
  }

  /// What the item is about. Nil for a user, which can be repeated, and for what is no entity.
  var subject: SyncEntity? {
    switch self {
    case .removed(let entity): entity
    case .unfollowedThread(let ordinal, _, let room): .thread(ordinal, in: room)
    default: entity
    }
  }

  var isTombstone: Bool {
    switch self {
    case .removed, .unfollowedThread: true
    default: false
    }
  }

  /// The content without what clients do not see, and without what is as of the entity's revision: entities inside this
  /// one, quotes of other messages, and the marks of blocked users.
  var comparable: SyncItem.Content {
    switch self {
    case .invitation(let row, var workspace):
      (workspace.name, workspace.topic, workspace.picture, workspace.memberCount) = ("", nil, nil, 0)
      workspace.revision = .origin
      return .invitation(row, workspace)
    case .room(var row):
      (row.room.changed, row.room.shown, row.room.tracked, row.room.largeSince) = (.origin, .origin, [], nil)
      row.isLastFromBlockedUser = false
      row.member?.tracked = nil
      if row.member == nil { (row.room.lastOrdinal, row.room.deletedCount, row.room.activity) = (0, 0, .origin) }
      return .room(row)
    case .workspace(var row):
      row.badge = BadgeRow()
      return .workspace(row)
    case .member(var row):
      (row.marker, row.mutedUntil, row.notifications, row.read, row.unread) = (0, nil, nil, nil, nil)
      (row.own, row.markerPosition, row.tracked) = (.origin, nil, nil)
      return .member(row)
    case .thread(let thread, var root):
      (root.row.text, root.row.details, root.row.editedAt, root.row.deletedAt) = ("", nil, nil, nil)
      (root.row.revision, root.isFromBlockedUser) = (.origin, false)
      (root.annotations.thread, root.annotations.reactions, root.annotations.isPinned) = (nil, [], false)
      root.annotations.quote = nil
      return .thread(thread, root: root)
    case .message(var message):
      message.isFromBlockedUser = false
      message.annotations.quote = nil
      return .message(message)
    default:
      return self
    }
  }
}
