import ChatDomain
import ChatPrimitives
import ChatProjections
import ChatService
import EventLogSimulation

extension Comparison {
  /// Compares the read receipts that the user may see: those of members who have read something and do not hide it from
  /// others.
  mutating func compareReceipts(_ id: RoomID, for user: UserID) async throws {
    let limit = random.within(1...5)
    let expected = model.room(id, seenBy: user).map { room in
      room.members.compactMap { member -> SeenReceipt? in
        let isShown = member.user == user || model.users[member.user]?.preferences.sharesReadMarkers != false
        guard isShown, let message = member.markerMessage else { return nil }
        return SeenReceipt(user: member.user, message: message, at: member.markerMoved)
      }
    }
    let found = try await result { () async throws(ServiceError) in
      var (found, cursor): ([SeenReceipt], LogPosition?) = ([], nil)
      repeat {
        let page = try await chat.receipts(of: id, for: user, after: cursor, limit: limit)
        found += page.receipts.map { SeenReceipt(user: $0.user, message: $0.read.message, at: $0.read.time) }
        cursor = page.next
      } while cursor != nil && found.count <= (expected?.count ?? 0)
      return found
    }
    try expect(
      "receipts of r\(id.short) for u\(user.short), \(limit) at a time",
      expected.map { .found($0) } ?? .refused("room_not_found"), found)
  }

  // MARK: - Scheduled messages

  /// Compares the user's own scheduled messages in one room, the earliest time first.
  func compareScheduled(_ id: RoomID, for user: UserID) async throws {
    let expected = model.room(id, seenBy: user).map { room in
      room.scheduled.filter { $0.message.author == user }.map { SeenScheduled($0, in: id) }
    }
    let found = try await result { () async throws(ServiceError) in
      try await chat.scheduledMessages(of: user, in: id).messages.map { SeenScheduled($0) }
    }
    if case .found(let rows) = found {
      try expect("times of what is scheduled", rows.map(\.sendAt).sorted(), rows.map(\.sendAt))
    }
    try expect(
      "scheduled in r\(id.short) by u\(user.short)",
      expected.map { .found(inOrder($0)) } ?? .refused("room_not_found"), found.map(inOrder))
    for scheduled in model.rooms[id]?.scheduled.suffix(3) ?? [] {
      try await compareScheduled(scheduled, in: id, for: user)
    }
  }

  /// Compares one scheduled message by its ID. Only its author sees it, in the room or not.
  private func compareScheduled(_ scheduled: ModelScheduled, in id: RoomID, for user: UserID) async throws {
    let found = try await result { () async throws(ServiceError) in
      SeenScheduled(try await chat.scheduledMessage(scheduled.id, of: id, for: user))
    }
    let isMember = model.room(id, seenBy: user) != nil
    let isSeen = model.rooms[id]?.exists == true && scheduled.message.author == user
    try expect(
      "scheduled m\(scheduled.id.short) in r\(id.short) for u\(user.short)",
      isSeen
        ? .found(SeenScheduled(scheduled, in: id))
        : .refused(isMember ? "scheduled_message_not_found" : "room_not_found"), found)
  }

  private func inOrder(_ all: [SeenScheduled]) -> [SeenScheduled] { all.sorted { $0.scheduled < $1.scheduled } }

  /// Compares the user's own scheduled messages in all rooms, including rooms that the user has left.
  mutating func compareScheduled(of user: UserID) async throws {
    let limit = random.within(1...4)
    let expected = model.rooms.values.filter { $0.exists }.flatMap { room in
      room.scheduled.filter { $0.message.author == user }.map { SeenScheduled($0, in: room.id) }
    }
    var (found, cursor): ([SeenScheduled], LogPosition?) = ([], nil)
    repeat {
      let page = try await chat.scheduledMessages(of: user, after: cursor, limit: limit)
      found += page.messages.map { SeenScheduled($0) }
      cursor = page.next
    } while cursor != nil && found.count <= expected.count
    try expect("scheduled by u\(user.short), \(limit) at a time", inOrder(expected), found)
  }
}

extension QueryResult {
  fileprivate func map<U: Equatable>(_ change: (T) -> U) -> QueryResult<U> {
    switch self {
    case .found(let value): .found(change(value))
    case .refused(let reason): .refused(reason)
    }
  }
}

private struct SeenReceipt: Equatable {
  let user: UserID
  let message: MessageID
  let at: Timestamp?
}

private struct SeenScheduled: Equatable {
  let room: RoomID
  let id: MessageID
  let text: String
  let thread: MessageID?
  let replyTo: MessageID?
  let mentions: Mentions
  let custom: CustomPart?
  let sendAt: Timestamp
  let scheduled: LogPosition
  let revision: LogPosition
  let failure: SchedulingFailure?
  let failed: Stamp?

  init(_ scheduled: ModelScheduled, in room: RoomID) {
    self.init(
      room, scheduled.id, scheduled.message, scheduled.scheduled, scheduled.revision, scheduled.failure,
      scheduled.failed)
  }

  init(_ row: ScheduledRow) {
    self.init(
      row.room, row.id, row.message, row.scheduled, row.revision, row.failure?.reason, row.failure?.stamp)
  }

  private init(
    _ room: RoomID, _ id: MessageID, _ message: ScheduledMessage, _ scheduled: Stamp, _ revision: LogPosition,
    _ failure: SchedulingFailure?, _ failed: Stamp?
  ) {
    self.room = room
    self.id = id
    text = message.content.text
    thread = message.thread
    replyTo = message.content.details?.replyTo
    mentions = message.content.details?.mentions ?? Mentions()
    custom = message.content.details?.custom
    sendAt = message.sendAt
    self.scheduled = scheduled.position
    self.revision = revision
    self.failure = failure
    self.failed = failed
  }
}
