import ChatDomain
import ChatPrimitives
import ChatProjections

/// Finds what a page has to read, and reads it.
extension SyncReader {
  /// The first points of the group after those that were delivered, and whether the client wants them.
  func points(
    _ part: SyncPart, in range: SyncRange, _ progress: SyncProgress, limit: Int
  ) async throws(ServiceError) -> [(point: SyncPoint, isWanted: Bool)] {
    let start = SyncPoint(progress.reached, key: progress.key)
    let (rooms, inRooms) = try await pointsInRooms(part, in: range, progress.group, after: start, limit: limit)
    let (user, filter, perRoom) = (user, filter, request.perRoom)
    let isFirst = progress.group.previous == nil
    let position = required(range.target)
    var found = inRooms
    if part == .catchUp, filter.wants(.message) {
      found += try await chat.timeline(upTo: position) { timeline in
        let sources = TimelineSources(timeline: timeline, range: range, perRoom: perRoom)
        let all = try rooms.filter { try timeline.mayRead($0.id, user) }.flatMap { try sources.room($0) }
        return try SyncMerge.first(limit, of: all, after: start, through: range.target)
      }
    }
    if part != .initialContents, isFirst, SyncFilter.accountTypes.contains(where: { filter.wants($0) }) {
      found += try await chat.accounts(upTo: position) { accounts in
        let sources = try accounts.syncSources(of: user, range)
        return try SyncMerge.first(limit, of: sources, after: start, through: range.target)
      }
    }
    return found.sorted().prefix(limit).map { point in
      (point, SyncEntity(key: point.key).map { filter.wants($0) } ?? false)
    }
  }

  private func pointsInRooms(
    _ part: SyncPart, in range: SyncRange, _ group: SyncGroup, after start: SyncPoint, limit: Int
  ) async throws(ServiceError) -> (rooms: [SyncedRoom], points: [SyncPoint]) {
    let (user, filter) = (user, filter)
    return try await chat.rooms(upTo: required(range.target)) { rooms in
      let sources = RoomsSources(rooms: rooms, user: user, range: range, filter: filter)
      var (found, all) = ([SyncedRoom](), [SyncMerge.Source]())
      let isFirst = group.previous == nil
      if isFirst, part != .initialContents { all += try sources.own() }
      if isFirst, part != .initialOwn { all += sources.following() }
      if part != .initialOwn {
        for id in try rooms.changedRooms(of: user, after: range.since, group, filter) {
          guard let row = try rooms.room(id), let member = try rooms.member(user, of: id) else { continue }
          let synced = SyncedRoom(id: id, joined: member.joined.position)
          found.append(synced)
          all += sources.contents(synced, row)
          if part == .catchUp {
            all.append(SyncSources.single(max(row.shown, member.own), .room(id)))
          } else if row.shown > range.target, row.lastOrdinal > 0, range.contains(synced.joined) {
            // The room moved in the list, so the client may have none of its messages.
            all.append(SyncSources.single(range.target, .gap(id)))
          }
        }
      }
      return (found, try SyncMerge.first(limit, of: all, after: start, through: range.target))
    }
  }

  func items(
    for points: [SyncPoint], _ part: SyncPart, in range: SyncRange
  ) async throws(ServiceError) -> [PlacedItem] {
    guard !points.isEmpty else { return [] }
    let (user, perRoom, position) = (user, request.perRoom, required(range.target))
    let named = points.compactMap { point in SyncEntity(key: point.key).map { (point: point, entity: $0) } }
    let now = chat.now()
    let (ofRooms, threads, joined) = try await chat.rooms(upTo: position) { rooms in
      let reader = RoomsContents(rooms: rooms, user: user, now: now)
      var (found, threads) = ([SyncPoint: SyncItem.Content](), [SyncPoint: SyncedThread]())
      var joined: [RoomID: LogPosition] = [:]
      for (point, entity) in named {
        switch entity {
        case .thread(let root, let room): threads[point] = try reader.thread(root, in: room, at: point.position)
        case .gap(let room) where part.isInitial: found[point] = try reader.gap(in: room)
        case .message(_, let room), .gap(let room):
          if joined[room] == nil { joined[room] = try rooms.member(user, of: room)?.joined.position }
        default: found[point] = try reader.content(of: entity, at: point.position)
        }
      }
      return (found, threads, joined)
    }
    let ofTimeline = try await chat.timeline(upTo: position) { timeline in
      let sources = TimelineSources(timeline: timeline, range: range, perRoom: perRoom)
      return try TimelineContents(timeline: timeline, user: user, joined: joined, sources: sources).contents(
        of: named, threads)
    }
    let ofAccounts = try await chat.accounts(upTo: position) { accounts in
      var found: [SyncPoint: SyncItem.Content] = [:]
      for (point, entity) in named { found[point] = try accounts.content(of: entity, of: user, at: point.position) }
      return found
    }
    return points.compactMap { point in
      guard let content = ofRooms[point] ?? ofTimeline[point] ?? ofAccounts[point],
        !part.isInitial || content.isInitial
      else { return nil }
      return PlacedItem(point: point, content: content)
    }
  }
}

extension RoomsQueries {
  /// The rooms of a group in which something changed after a position.
  fileprivate func changedRooms(
    of user: UserID, after position: LogPosition, _ group: SyncGroup, _ filter: SyncFilter
  ) throws -> [RoomID] {
    if let wanted = filter.rooms { return wanted.sorted() }
    return try changedRooms(
      of: user, after: position, beyond: group.previous, through: group.last, limit: Limits.syncGroupRooms)
  }
}

extension SyncItem.Content {
  /// Whether the initial state has it outside the list of rooms. A new client has nothing to remove.
  fileprivate var isInitial: Bool {
    switch self {
    case .room(let row): row.member == nil
    case .unfollowedThread, .removed: false
    case .account, .preferences, .device, .session, .blockedUser, .workspace, .workspaceMember, .invitation,
      .scheduledMessage, .member, .readMarker, .thread, .message, .user, .badge, .gap:
      true
    }
  }
}

extension SyncFilter {
  /// The types of items that `accounts` has.
  fileprivate static let accountTypes: [SyncItemType] = [.account, .preferences, .device, .session, .blockedUser]
}

extension SyncMerge {
  /// The first points of all sources after a point and up to a position.
  static func first(
    _ limit: Int, of sources: [Source], after start: SyncPoint, through target: LogPosition
  ) throws -> [SyncPoint] {
    var (merge, points) = (try SyncMerge(sources, after: start), [SyncPoint]())
    while points.count < limit, let point = try merge.next(), point.position <= target { points.append(point) }
    return points
  }
}
