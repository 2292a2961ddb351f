import ChatDomain
import ChatPrimitives
import ChatProjections

/// A room of the list, with what the initial state needs to know of it.
struct ListedRoom: Sendable {
  let row: RoomListRow
  let member: MemberRow
  let hasReplies: Bool
}

extension RoomsQueries {
  /// Rooms in the order of the list, from a point on, and whether more follow. Hidden rooms are among the archived ones.
  func listed(
    for user: UserID, isArchive: Bool, after start: SyncPoint, _ filter: SyncFilter,
    limit: Int
  ) throws -> (rooms: [ListedRoom], isCut: Bool) {
    guard filter.wants(.room) || filter.wants(.message) else { return ([], false) }
    let isComplete = start.key == [.max]
    var (rows, isCut) = ([RoomListRow](), false)
    if let wanted = filter.rooms {
      rows = try wanted.compactMap { try roomListRow($0, for: user) }
        .filter {
          ($0.room.archived != nil || $0.member?.isHidden == true) == isArchive && $0.room.activity <= start.position
        }
        .sorted { $0.room.activity > $1.room.activity }
      if isComplete { rows.removeAll { $0.room.activity == start.position } }
    } else {
      let cursor = isComplete ? start.position : start.position.next
      let page = try roomList(
        of: user, in: isArchive ? [.archived, .hidden] : [.open], after: cursor, limit: limit)
      (rows, isCut) = (page.rooms, page.next != nil)
    }
    let rooms = try rows.compactMap { row -> ListedRoom? in
      guard let member = row.member else { return nil }
      let hasReplies = try !changedThreads(of: row.room.id, after: .origin, through: .last, limit: 1).isEmpty
      return ListedRoom(row: row, member: member, hasReplies: hasReplies)
    }
    return (rooms, isCut)
  }
}

/// Reads rooms of the list with their newest messages.
struct InitialRooms {
  let timeline: TimelineQueries
  let user: UserID
  let target: LogPosition
  let filter: SyncFilter
  /// The number of messages of a room that has messages.
  let perRoom: Int

  /// One room and what the client gets of it.
  struct Unit: Sendable {
    /// The part of the response while this room is read.
    let part: InitialPart
    let activity: LogPosition
    var items: [Item] = []
  }

  struct Item: Sendable {
    /// The place in the list: the room's activity, and a key in the room.
    let point: SyncPoint
    let revision: LogPosition
    let content: SyncItem.Content
  }

  /// - Parameters:
  ///   - part: the part of the room that `start` is in.
  ///   - limit: no room begins after this many items.
  func units(
    of rooms: [ListedRoom], _ part: InitialPart, after start: SyncPoint, limit: Int
  ) throws -> [Unit] {
    var (units, count, part) = ([Unit](), 0, part)
    for room in rooms {
      guard count < limit else { break }
      let activity = room.row.room.activity
      // Once begun, a room has messages or not, so that none is missing between two pages.
      let isBegun = activity == start.position && !start.key.isEmpty
      if !isBegun, case .list(let begun) = part { part = .list(begun: begun + 1) }
      var unit = Unit(part: part, activity: activity)
      unit.items = try items(of: room, hasMessages: part.hasMessages).filter { $0.point > start || !isBegun }
      count += unit.items.count
      units.append(unit)
    }
    return units
  }

  private func items(of room: ListedRoom, hasMessages: Bool) throws -> [Item] {
    let (row, id) = (room.row.room, room.row.room.id)
    // The first catch-up has all of a room that the user joined after the target.
    guard room.member.joined.position <= target else { return [] }
    func item(_ entity: SyncEntity, _ revision: LogPosition, _ content: SyncItem.Content) -> Item {
      Item(point: SyncPoint(row.activity, key: entity.key), revision: revision, content: content)
    }
    var items: [Item] = []
    if filter.wants(.room) { items.append(item(.room(id), max(row.shown, room.member.own), .room(room.row))) }
    guard filter.wants(.message), row.lastOrdinal > 0, try timeline.mayRead(id, user) else { return items }
    var gap: SyncGap? = SyncGap(room: id, before: row.lastOrdinal + 1)
    if hasMessages {
      let newest = try timeline.newestMessages(of: id, after: .origin, through: target, limit: perRoom + 1)
      let sent = newest.prefix(perRoom)
      if let first = sent.last?.location.ordinal, let last = sent.first?.location.ordinal {
        for (message, changed) in try timeline.changedContents(of: id, thread: 0, first...last, for: user) {
          let revision = max(changed, room.member.joined.position)
          items.append(item(.message(message.row.location, in: id), revision, .message(message)))
        }
        gap = newest.count > perRoom || room.hasReplies ? SyncGap(room: id, before: first) : nil
      }
    }
    if let gap { items.append(item(.gap(id), target, .gap(gap))) }
    // What changed after the target comes with the first catch-up.
    return items.filter { $0.revision <= target }
  }
}
