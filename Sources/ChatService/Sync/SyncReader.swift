import ChatDomain
package import ChatPrimitives
import ChatProjections
import EventStore

/// Reads what changed for a user after a position, page by page, from three read models.
///
/// Each is read in its own snapshot, which has everything up to the target of the catch-up and can have more. What changed
/// after the target is left out: the next catch-up has it. So each revision is delivered once, and nothing is older than
/// its revision.
struct SyncReader: Sendable {
  let chat: ChatService
  let user: UserID

  /// - Parameter limit: the maximum number of changes that are examined, from 1. Those that changed again later have no
  ///   item, and an item can be preceded by the users that it shows.
  func page(after start: SyncPosition, limit: Int) async throws(ServiceError) -> SyncPage {
    let head = chat.store.head
    let progress: SyncProgress
    if case .catchingUp(let reached) = start.stage {
      progress = reached
    } else {
      let group = try await group(after: nil, start.position)
      progress = SyncProgress(target: head, part: 0, group: group ?? SyncGroup(), reached: start.position, key: [.max])
    }
    let range = SyncRange(since: start.position, target: progress.target)
    let points = try await points(in: range, progress, limit: limit)
    var items = try await items(for: points)
    var reached = points.last
    if let end = Self.end(of: items) {
      items.removeLast(items.count - end)
      reached = items.last?.point
    }
    let isCut = points.count == limit || reached != points.last
    let next = try await self.next(start, progress, isCut ? reached : nil)
    return SyncPage(
      items: try await withUsers(items), next: next,
      more: next.stage != .complete || (start.stage != .complete && chat.store.head > next.position))
  }

  /// The index after the last item that fits on a page. Nil if all fit.
  private static func end(of items: [PlacedItem]) -> Int? {
    var budget = PageBudget()
    return items.firstIndex { !budget.take($0.content.contentBytes) }
  }

  /// - Parameter reached: the last point of this page, if the group has more.
  private func next(
    _ start: SyncPosition, _ progress: SyncProgress, _ reached: SyncPoint?
  ) async throws(ServiceError) -> SyncPosition {
    var next = progress
    if let reached {
      (next.reached, next.key) = (reached.position, reached.key)
      return SyncPosition(start.position, .catchingUp(next))
    }
    guard let last = progress.group.last, let group = try await group(after: last, start.position) else {
      return SyncPosition(progress.target)
    }
    (next.group, next.reached, next.key) = (group, start.position, [.max])
    return SyncPosition(start.position, .catchingUp(next))
  }

  // MARK: - References

  /// The group of changed rooms after a room. Nil if there are none.
  private func group(after previous: RoomID?, _ since: LogPosition) async throws(ServiceError) -> SyncGroup? {
    let found = try await chat.rooms { [user] in
      try $0.changedRooms(of: user, after: since, beyond: previous, limit: Limits.syncGroupRooms + 1)
    }
    guard !found.isEmpty else { return nil }
    let last = found.count > Limits.syncGroupRooms ? found[Limits.syncGroupRooms - 1] : nil
    return SyncGroup(previous: previous, last: last)
  }

  /// The first points of the group after those that were delivered.
  private func points(
    in range: SyncRange, _ progress: SyncProgress, limit: Int
  ) async throws(ServiceError) -> [SyncPoint] {
    let (user, group, start) = (user, progress.group, SyncPoint(progress.reached, key: progress.key))
    let isFirst = group.previous == nil
    let (rooms, inRooms) = try await chat.rooms { rooms in
      let sources = RoomsSources(rooms: rooms, user: user, range: range)
      var (found, all) = ([SyncedRoom](), isFirst ? try sources.own() : [])
      let changed = try rooms.changedRooms(
        of: user, after: range.since, beyond: group.previous, through: group.last, limit: Limits.syncGroupRooms)
      for id in changed {
        guard let row = try rooms.room(id), let member = try rooms.member(user, of: id) else { continue }
        let synced = SyncedRoom(id: id, joined: member.joined.position)
        found.append(synced)
        all += sources.room(synced, row, member)
      }
      return (found, try SyncMerge.first(limit, of: all, after: start, through: range.target))
    }
    let inTimeline = try await chat.timeline { timeline in
      let sources = TimelineSources(timeline: timeline, range: range)
      let all = try rooms.filter { try timeline.mayRead($0.id, user) }.flatMap { sources.room($0) }
      return try SyncMerge.first(limit, of: all, after: start, through: range.target)
    }
    let inAccounts: [SyncPoint] =
      isFirst
      ? try await chat.accounts { accounts in
        let sources = try accounts.syncSources(of: user, range)
        return try SyncMerge.first(limit, of: sources, after: start, through: range.target)
      } : []
    return Array((inRooms + inTimeline + inAccounts).sorted().prefix(limit))
  }

  // MARK: - Contents

  private struct PlacedItem {
    let point: SyncPoint
    let content: SyncItem.Content
  }

  private func items(for points: [SyncPoint]) async throws(ServiceError) -> [PlacedItem] {
    let (user, named) = (user, points.map { (point: $0, entity: SyncEntity(key: $0.key)) })
    var contents: [SyncPoint: SyncItem.Content] = [:]
    let now = chat.now()
    let (ofRooms, threads, joined) = try await chat.rooms { rooms in
      let reader = RoomsContents(rooms: rooms, user: user, now: now)
      var (found, threads) = ([SyncPoint: SyncItem.Content](), [SyncPoint: SyncedThread]())
      var joined: [RoomID: LogPosition] = [:]
      for (point, entity) in named {
        guard let entity else { continue }
        switch entity {
        case .thread(let root, let room): threads[point] = try reader.thread(root, in: room, at: point.position)
        case .message(_, let room):
          if joined[room] == nil { joined[room] = try rooms.member(user, of: room)?.joined.position }
        default: found[point] = try reader.content(of: entity, at: point.position)
        }
      }
      return (found, threads, joined)
    }
    contents.merge(ofRooms) { first, _ in first }
    let ofTimeline = try await chat.timeline { timeline in
      try TimelineContents(timeline: timeline, user: user, joined: joined).contents(
        of: named.compactMap { point, entity in entity.map { (point, $0) } }, threads)
    }
    contents.merge(ofTimeline) { first, _ in first }
    let ofAccounts = try await chat.accounts { accounts in
      var found: [SyncPoint: SyncItem.Content] = [:]
      for (point, entity) in named {
        found[point] = try entity.flatMap { try accounts.content(of: $0, of: user, at: point.position) }
      }
      return found
    }
    contents.merge(ofAccounts) { first, _ in first }
    return points.compactMap { point in contents[point].map { PlacedItem(point: point, content: $0) } }
  }

  /// Puts the users that an item shows before it, each once on the page.
  private func withUsers(_ items: [PlacedItem]) async throws(ServiceError) -> [SyncItem] {
    let shown = Set(items.flatMap(\.content.users))
    let nicknames = shown.isEmpty ? [:] : try await chat.rooms { try $0.nicknames(of: shown) }
    var (known, all) = (Set<UserID>(), [SyncItem]())
    for item in items {
      let revision = item.point.position
      for user in item.content.users {
        guard let nickname = nicknames[user], known.insert(user).inserted else { continue }
        all.append(SyncItem(revision: revision, content: .user(user, nickname: nickname)))
      }
      all.append(SyncItem(revision: revision, content: item.content))
    }
    return all
  }
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

extension ChatService {
  /// What changed for a user, or the initial state, in pages.
  package func changes(
    for user: UserID, _ request: SyncRequest
  ) async throws(ServiceError) -> SyncPage {
    try await SyncReader(chat: self, user: user).page(
      after: request.position ?? SyncPosition(.origin), limit: request.limit)
  }
}

extension ChatService {
  // Other names for code that also imports the types of the API with the same names. The name of this module is that of a
  // type, so it cannot tell them apart.
  package typealias ChangedItem = SyncItem
  package typealias LeftOutMessages = SyncGap
}
