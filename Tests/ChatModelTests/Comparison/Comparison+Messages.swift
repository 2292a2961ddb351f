import ChatDomain
import ChatPrimitives
import ChatProjections
import ChatService
import EventLogSimulation
import EventStore

/// A page of messages.
private struct SeenPage: Equatable {
  let messages: [SeenPost]
  let hasOlder: Bool
  let hasNewer: Bool

  init(_ page: TimelinePage) {
    messages = page.shown.map { SeenPost($0) }
    hasOlder = page.older != nil
    hasNewer = page.newer != nil
  }

  /// The messages in `range`, as far as they exist.
  init(_ all: [ModelMessage], _ range: Range<Int>, in room: ModelRoom, for reader: UserID, _ model: ChatModel) {
    let range = range.clamped(to: 0..<all.count)
    messages = all[range].map { SeenPost($0, in: room, for: reader, model) }
    hasOlder = range.lowerBound > 0
    hasNewer = range.upperBound < all.count
  }
}

/// A request for a list of messages by one user, of a room's own timeline or of a thread.
private struct Reading {
  let room: ModelRoom
  /// Nil for the room's own timeline.
  let root: MessageID?
  let user: UserID
  let limit: Int

  var all: [ModelMessage] { root.map { room.thread(of: $0) } ?? room.timeline }

  var name: String {
    (root.map { "thread m\($0.short)" } ?? "timeline") + " of r\(room.id.short) for u\(user.short), limit \(limit)"
  }

  func page(_ chat: ChatService, _ request: ChatService.PageRequest) async throws(ServiceError) -> TimelinePage {
    guard let root else { return try await chat.messages(of: room.id, for: user, request, limit: limit) }
    return try await chat.thread(root, of: room.id, for: user, request, limit: limit).page
  }
}

extension Comparison {
  /// Compares the newest page, and a page at a place of each kind, for the room's timeline and for a thread.
  mutating func comparePages(_ id: RoomID, for user: UserID) async throws {
    guard let room = model.room(id, seenBy: user) else {
      let found = try await result { () async throws(ServiceError) in
        SeenPage(try await chat.messages(of: id, for: user, .newest, limit: 3))
      }
      return try expect("timeline of r\(id.short) for u\(user.short)", .refused("room_not_found"), found)
    }
    try await comparePages(Reading(room: room, root: nil, user: user, limit: random.within(1...10)))
    let roots = room.timeline.filter { !room.thread(of: $0.id).isEmpty }
    let candidates = roots.isEmpty ? room.timeline : roots
    if !candidates.isEmpty {
      let root = candidates[random.below(candidates.count)].id
      try await comparePages(Reading(room: room, root: root, user: user, limit: random.within(1...5)))
      try await compareReading(of: root, in: room, for: user)
    }
    try await compareOneMessage(of: room, for: user)
  }

  private mutating func comparePages(_ reading: Reading) async throws {
    let all = reading.all
    let limit = reading.limit
    try await comparePage(reading, .newest, all.count - limit..<all.count)
    guard !all.isEmpty else { return }
    let place = random.below(all.count)
    let anchor: ChatService.Anchor =
      random.isOne(in: 2) ? .message(all[place].id) : .ordinal(all[place].location.ordinal)
    try await comparePage(reading, .before(anchor), place - limit..<place)
    try await comparePage(reading, .after(anchor), place + 1..<place + 1 + limit)
    let first = earliest(in: all, from: all[place].sentAt)
    try await comparePage(reading, .after(.time(all[place].sentAt)), first..<first + limit)
    try await compareAround(reading, anchor, place)
  }

  /// The index of the earliest message at or after `time`.
  private func earliest(in all: [ModelMessage], from time: Timestamp) -> Int {
    let later = all.indices.filter { all[$0].sentAt >= time }
    return later.min { (all[$0].sentAt, $0) < (all[$1].sentAt, $1) } ?? all.count
  }

  private func comparePage(
    _ reading: Reading, _ request: ChatService.PageRequest, _ range: Range<Int>
  ) async throws {
    let all = reading.all
    let page = try await reading.page(chat, request)
    let what = "\(request) of \(reading.name)"
    try expectProfiles(page.profiles, of: page.messages.map(\.sender))
    if range.clamped(to: 0..<all.count).isEmpty { return try expect(what, 0, page.messages.count) }
    try expect(what, SeenPage(all, range, in: reading.room, for: reading.user, model), SeenPage(page))
  }

  /// Compares a page around a message: it has as many older as newer messages, counting the message itself, if there
  /// are enough.
  private func compareAround(_ reading: Reading, _ anchor: ChatService.Anchor, _ place: Int) async throws {
    let all = reading.all
    let page = try await reading.page(chat, .around(anchor))
    let count = page.messages.count
    let what = "around \(anchor) of \(reading.name)"
    guard let start = all.firstIndex(where: { $0.id == page.messages.first?.id }) else {
      return try expect(what, "messages", "none")
    }
    try expect(
      what, SeenPage(all, start..<start + count, in: reading.room, for: reading.user, model), SeenPage(page))
    try expect("\(what): how many", min(reading.limit, all.count), count)
    try expect("\(what): holds its anchor", true, start <= place && place < start + count)
    let (older, newer) = (place - start, start + count - 1 - place)
    let atAnEnd = start == 0 || start + count == all.count
    try expect("\(what): in the middle", true, atAnEnd || abs(older - newer) <= 1)
  }

  // MARK: - One message

  private mutating func compareOneMessage(of room: ModelRoom, for user: UserID) async throws {
    guard !room.messages.isEmpty else { return }
    let message = room.messages[random.below(room.messages.count)]
    let (id, limit) = (room.id, random.within(1...4))
    let what = "m\(message.id.short) of r\(id.short) for u\(user.short)"
    let found = SeenPost(try await chat.message(message.id, of: id, for: user))
    try expect("message \(what)", SeenPost(message, in: room, for: user, model), found)

    var (reactions, cursor): ([ModelReaction], LogPosition?) = ([], nil)
    repeat {
      let page = try await chat.reactions(to: message.id, of: id, for: user, after: cursor, limit: limit)
      reactions += page.reactions.map {
        ModelReaction(emoji: $0.emoji, user: $0.user, position: $0.position, at: $0.reactedAt)
      }
      try expectProfiles(page.profiles, of: page.reactions.map(\.user))
      cursor = page.next
    } while cursor != nil && reactions.count <= message.reactions.count
    try expect("reactions to \(what), \(limit) at a time", message.reactions, reactions)

    var versions: [ModelRevision] = []
    cursor = nil
    repeat {
      let page = try await chat.history(of: message.id, in: id, for: user, after: cursor, limit: limit)
      versions += page.versions.map { version in
        ModelRevision(
          text: version.text,
          mentions: version.mentions,
          writtenAt: version.writtenAt, position: version.position)
      }
      cursor = page.next
    } while cursor != nil && versions.count <= message.versions.count
    try expect("history of \(what), \(limit) at a time", message.versions, versions)
  }

  /// Compares the pins, the newest first.
  func comparePins(_ id: RoomID, for user: UserID) async throws {
    let expected = model.room(id, seenBy: user).map { room in
      room.pins.map { SeenPin(post: SeenPost($0, in: room, for: user, model), pin: $0.pinned) }
    }
    let found = try await result { () async throws(ServiceError) in
      try await chat.pins(of: id, for: user).pins.map { row in
        SeenPin(
          post: SeenPost(row.message), pin: ModelPin(by: row.pinnedBy, position: row.position, at: row.pinnedAt))
      }
    }
    try expect(
      "pins of r\(id.short) for u\(user.short)", expected.map { .found($0) } ?? .refused("room_not_found"), found)
  }
}

private struct SeenPin: Equatable {
  let post: SeenPost
  let pin: ModelPin?
}
