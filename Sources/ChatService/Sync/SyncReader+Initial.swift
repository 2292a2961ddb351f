import ChatDomain
import ChatPrimitives
import ChatProjections

/// The parts of the initial state, in order. The raw bytes are in cursors.
enum InitialPart: Sendable, Hashable {
  /// What is the user's own, and the workspaces.
  case own
  /// The rooms that are neither archived nor hidden, in the order of the list. The first ones have messages.
  /// - Parameter begun: the number of rooms that were begun; beyond `Limits.syncInitialRooms` it stays one more.
  case list(begun: Int)
  /// The archived and hidden rooms, in the order of their list.
  case archive
  /// Members, markers and threads, in groups of rooms.
  case contents

  var byte: UInt8 {
    switch self {
    case .own: 0
    case .list(let begun): 1 + UInt8(clamping: min(begun, Limits.syncInitialRooms + 1))
    case .archive: 254
    case .contents: 255
    }
  }

  /// Whether the room that is read has messages.
  var hasMessages: Bool {
    switch self {
    case .list(let begun): begun <= Limits.syncInitialRooms
    case .own, .archive, .contents: false
    }
  }

  /// A cursor that another byte was written into can begin with fewer messages, but shows nothing more.
  init(byte: UInt8) {
    switch byte {
    case 0: self = .own
    case 254: self = .archive
    case 255: self = .contents
    default: self = .list(begun: Int(byte) - 1)
    }
  }
}

/// The initial state: what the user sees as of one position, the target, without what changes after it. The first catch-up
/// has that, so nothing can be lost between the two, however the rooms move in the list meanwhile.
///
/// A room moves only when an event changes its `shown`. If that happens after the target, the room may be missing in the list
/// here. Then the catch-up has the room, and the last part of the initial state, which takes the rooms by their IDs, has a
/// gap for its messages.
extension SyncReader {
  private struct Step {
    let items: [PlacedItem]
    /// Where the next step begins. Nil at the end of the initial state.
    let next: SyncProgress?
    /// Whether `next` is the beginning of the next part.
    let isPartComplete: Bool

    init(_ items: [PlacedItem], _ next: SyncProgress?, isPartComplete: Bool = false) {
      (self.items, self.next, self.isPartComplete) = (items, next, isPartComplete)
    }
  }

  func initialPage(
    _ start: LogPosition, _ first: SyncProgress
  ) async throws(ServiceError) -> (items: [PlacedItem], next: SyncPosition) {
    var (items, progress, budget) = ([PlacedItem](), first, PageBudget())
    // A page goes on with the next part, but ends after a group of rooms.
    while true {
      let limit = request.limit - items.count
      let part = InitialPart(byte: progress.part)
      let step =
        switch part {
        case .own: try await own(progress, limit: limit, &budget)
        case .list, .archive: try await list(part, progress, limit: limit, &budget)
        case .contents: try await contents(progress, limit: limit, &budget)
        }
      items += step.items
      guard let next = step.next else { return (items, SyncPosition(start)) }
      if !step.isPartComplete || items.count >= request.limit { return (items, SyncPosition(start, .initial(next))) }
      progress = next
    }
  }

  // MARK: - The first part and the last

  private func own(
    _ progress: SyncProgress, limit: Int, _ budget: inout PageBudget
  ) async throws(ServiceError) -> Step {
    let range = SyncRange(since: .origin, target: progress.target)
    var (items, reached) = try await step(.initialOwn, in: range, progress, limit: limit, &budget)
    if progress.key.isEmpty, filter.wants(.badge) {
      let (badge, position) = try await chat.badge(of: user, upTo: required(progress.target))
      items.insert(
        PlacedItem(point: SyncPoint(progress.target, key: []), content: .badge(badge, position)), at: 0)
    }
    var next = progress
    if let reached {
      (next.reached, next.key) = (reached.position, reached.key)
      return Step(items, next)
    }
    (next.part, next.reached, next.key) = (InitialPart.list(begun: 0).byte, progress.target, [])
    return Step(items, next, isPartComplete: true)
  }

  private func contents(
    _ progress: SyncProgress, limit: Int, _ budget: inout PageBudget
  ) async throws(ServiceError) -> Step {
    let range = SyncRange(since: .origin, target: progress.target)
    var next = progress
    guard [.member, .readMarker, .thread, .message].contains(where: { filter.wants($0) }) else { return Step([], nil) }
    if progress.key.isEmpty {
      guard let group = try await group(after: nil, changedAfter: .origin, upTo: required(progress.target)) else {
        return Step([], nil)
      }
      next.group = group
    }
    let (items, reached) = try await step(.initialContents, in: range, next, limit: limit, &budget)
    if let reached {
      (next.reached, next.key) = (reached.position, reached.key)
    } else if let last = next.group.last,
      let group = try await group(after: last, changedAfter: .origin, upTo: required(progress.target))
    {
      (next.group, next.reached, next.key) = (group, .origin, [.max])
    } else {
      return Step(items, nil)
    }
    return Step(items, next)
  }

  // MARK: - The list of rooms

  /// Rooms from the place that the progress has reached on: in the room with that activity, after the key.
  private func list(
    _ part: InitialPart, _ progress: SyncProgress, limit: Int, _ budget: inout PageBudget
  ) async throws(ServiceError) -> Step {
    let (user, filter, target) = (user, filter, progress.target)
    let start = SyncPoint(progress.reached, key: progress.key)
    let (isArchive, perRoom) = (part == .archive, request.perRoom ?? Limits.syncInitialMessages)
    let listed = try await chat.rooms(upTo: required(target)) { rooms in
      try rooms.listed(for: user, isArchive: isArchive, after: start, filter, limit: limit)
    }
    let units = try await chat.timeline(upTo: required(target)) { timeline in
      let reader = InitialRooms(timeline: timeline, user: user, target: target, filter: filter, perRoom: perRoom)
      return try reader.units(of: listed.rooms, part, after: start, limit: limit)
    }
    var (items, next) = ([PlacedItem](), progress)
    for unit in units {
      for item in unit.items {
        guard items.count < limit, budget.take(item.content.contentBytes) else { return Step(items, next) }
        items.append(PlacedItem(point: SyncPoint(item.revision, key: item.point.key), content: item.content))
        (next.part, next.reached, next.key) = (unit.part.byte, item.point.position, item.point.key)
      }
      // The room is complete.
      (next.part, next.reached, next.key) = (unit.part.byte, unit.activity, [.max])
    }
    guard !listed.isCut, units.count == listed.rooms.count else { return Step(items, next) }
    next.part = (isArchive ? InitialPart.contents : .archive).byte
    (next.reached, next.key) = (isArchive ? .origin : target, [])
    return Step(items, next, isPartComplete: true)
  }
}
