import ChatDomain
package import ChatPrimitives
import ChatProjections
import EventStore

/// Reads what changed for a user after a position, or the initial state, page by page, from three read models.
///
/// Each is read in its own snapshot, which has everything up to the target of the response and can have more. What changed
/// after the target is left out: the next catch-up has it. So each revision is delivered once, and nothing is older than
/// its revision.
struct SyncReader: Sendable {
  let chat: ChatService
  let user: UserID
  let request: SyncRequest

  var filter: SyncFilter { request.filter }

  /// The position at which a response ends that begins now.
  private var target: LogPosition { request.target ?? chat.store.head }

  func page() async throws(ServiceError) -> SyncPage {
    let page: (items: [PlacedItem], next: SyncPosition)
    switch request.position?.stage {
    case nil:
      // What is in no read model yet comes later: everything that changes after this position is in the first catch-up.
      let start = target
      page = try await initialPage(
        start, SyncProgress(target: start, part: InitialPart.own.byte, group: SyncGroup(), reached: .origin, key: []))
    case .initial(let progress): page = try await initialPage(progress.target, progress)
    case .catchingUp(let progress): page = try await catchUpPage(progress)
    case .complete:
      let target = max(self.target, since)
      let group = try await group(after: nil, changedAfter: since, upTo: required(target))
      page = try await catchUpPage(
        SyncProgress(target: target, part: 0, group: group ?? SyncGroup(), reached: since, key: [.max]))
    }
    let wasAway = request.position.map { $0.stage != .complete } ?? true
    let (items, profiles) = try await withUsers(page.items, upTo: required(page.next.position))
    return SyncPage(
      items: items, profiles: profiles, next: page.next,
      more: page.next.stage != .complete || (wasAway && target > page.next.position))
  }

  /// The position of the client. The origin if it has none.
  private var since: LogPosition { request.position?.position ?? .origin }

  /// Up to where read models must be. Nil for the head: only a response with a given target does not wait for more.
  func required(_ target: LogPosition) -> LogPosition? { request.target == nil ? nil : target }

  // MARK: - A catch-up

  private func catchUpPage(
    _ progress: SyncProgress
  ) async throws(ServiceError) -> (items: [PlacedItem], next: SyncPosition) {
    let range = SyncRange(since: since, target: progress.target)
    var budget = PageBudget()
    let (items, reached) = try await step(.catchUp, in: range, progress, limit: request.limit, &budget)
    var next = progress
    if let reached {
      (next.reached, next.key) = (reached.position, reached.key)
    } else if let last = progress.group.last,
      let group = try await group(after: last, changedAfter: since, upTo: required(progress.target))
    {
      (next.group, next.reached, next.key) = (group, since, [.max])
    } else {
      return (items, SyncPosition(progress.target))
    }
    return (items, SyncPosition(since, .catchingUp(next)))
  }

  /// The group of changed rooms after a room. Nil if there are none.
  func group(
    after previous: RoomID?, changedAfter since: LogPosition, upTo position: LogPosition?
  ) async throws(ServiceError) -> SyncGroup? {
    // The rooms of a filter are few, so they are one group.
    if filter.rooms != nil { return previous == nil ? SyncGroup() : nil }
    let found = try await chat.rooms(upTo: position) { [user] in
      try $0.changedRooms(of: user, after: since, beyond: previous, limit: Limits.syncGroupRooms + 1)
    }
    guard !found.isEmpty else { return nil }
    let last = found.count > Limits.syncGroupRooms ? found[Limits.syncGroupRooms - 1] : nil
    return SyncGroup(previous: previous, last: last)
  }

  /// The next items of a group, and the last point examined. That is nil if the group has no more.
  func step(
    _ part: SyncPart, in range: SyncRange, _ progress: SyncProgress, limit: Int, _ budget: inout PageBudget
  ) async throws(ServiceError) -> (items: [PlacedItem], reached: SyncPoint?) {
    let points = try await points(part, in: range, progress, limit: limit)
    let items = try await items(for: points.filter(\.isWanted).map(\.point), part, in: range)
    if let end = items.firstIndex(where: { !budget.take($0.content.contentBytes) }) {
      // What comes before the first item that does not fit was examined.
      let before = points.last { $0.point < items[end].point }
      return (Array(items.prefix(end)), before?.point ?? SyncPoint(progress.reached, key: progress.key))
    }
    return (items, points.count == limit ? points.last?.point : nil)
  }

  // MARK: - Users

  private func withUsers(
    _ items: [PlacedItem], upTo position: LogPosition?
  ) async throws(ServiceError) -> (items: [SyncItem], profiles: [UserID: Profile]) {
    let shown = Set(items.flatMap(\.content.users))
    let profiles = shown.isEmpty ? [:] : try await chat.rooms(upTo: position) { try $0.profiles(of: shown) }
    let placed = items.map { SyncItem(revision: $0.point.position, content: $0.content) }
    return (filter.withUsers(placed, profiles), profiles)
  }
}

extension SyncFilter {
  /// Puts the users that an item shows before it, each once on the page, if the client wants users.
  func withUsers(_ items: [SyncItem], _ profiles: [UserID: Profile]) -> [SyncItem] {
    guard wants(.user) else { return items }
    var (known, all) = (Set<UserID>(), [SyncItem]())
    for item in items {
      for user in item.content.users {
        guard let profile = profiles[user], known.insert(user).inserted else { continue }
        all.append(SyncItem(revision: item.revision, content: .user(user, profile)))
      }
      all.append(item)
    }
    return all
  }
}

/// An item, and where it is in the order of a response.
struct PlacedItem: Sendable {
  let point: SyncPoint
  let content: SyncItem.Content
}

/// Which sources a page has.
enum SyncPart: Sendable {
  case catchUp
  /// The first part of the initial state: what is the user's own, and the workspaces.
  case initialOwn
  /// The last part: members, markers and threads, and gaps for rooms that moved in the list meanwhile.
  case initialContents

  var isInitial: Bool {
    switch self {
    case .catchUp: false
    case .initialOwn, .initialContents: true
    }
  }
}

extension ChatService {
  /// What changed for a user, or the initial state, in pages. Users take turns: few pages are read at once, and one of
  /// each user.
  package func changes(
    for user: UserID, _ request: SyncRequest
  ) async throws(ServiceError) -> SyncPage {
    let slot: AsyncSemaphore<UserID>.Slot
    do {
      slot = try await syncReads.take(for: user, timeout: .milliseconds(Limits.syncReadTimeoutMilliseconds))
    } catch {
      throw error is TooManyWaiting ? .overloaded : .cancelled
    }
    return try await changes(for: user, request, in: slot)
  }

  /// The same for a stream, which has waited for its turn without a task.
  func changes(
    for user: UserID, _ request: SyncRequest, in slot: AsyncSemaphore<UserID>.Slot
  ) async throws(ServiceError) -> SyncPage {
    defer { withExtendedLifetime(slot) {} }
    return try await SyncReader(chat: self, user: user, request: request).page()
  }
}

extension ChatService {
  // Other names for code that also imports the types of the API with the same names. The name of this module is that of a
  // type, so it cannot tell them apart.
  package typealias ChangedItem = SyncItem
  package typealias ChangePage = SyncPage
  package typealias LeftOutMessages = SyncGap
}
