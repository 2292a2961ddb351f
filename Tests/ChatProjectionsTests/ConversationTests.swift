import ChatDomain
import ChatPrimitives
import GRDB
import Testing

@testable import ChatProjections

/// Compares mentions, threads, reactions, pins and earlier texts with plain lists of the same history.
@Suite struct ConversationTests {
  static let seeds: [UInt64] = [501, 502, 503, 504]

  @Test("the rows are the same however the events are cut", arguments: seeds)
  func batches(seed: UInt64) throws {
    let events = ConversationHistory(seed: seed, events: 1200).script.events
    for projection in [RoomsProjection.self, TimelineProjection.self, IDIndexProjection.self] as [any Projection.Type] {
      let whole = try dump(build(projection, events, batch: 4096), projection)
      for batch in [1, 17, 400] { #expect(try dump(build(projection, events, batch: batch), projection) == whole) }
    }
  }

  @Test("unread and mention counts of rooms and threads equal a naive count", arguments: seeds)
  func counts(seed: UInt64) throws {
    let history = ConversationHistory(seed: seed, events: 2500)
    let (room, now) = (history.room, history.script.last.time)
    let queue = try build(RoomsProjection.self, history.script.events, batch: 100)
    try queue.read { (database) throws in
      let queries = RoomsQueries(database)
      for user in history.users {
        guard let marker = history.markers[user] else {
          #expect(try queries.roomListRow(room, for: user) == nil)
          #expect(try queries.followedThreads(of: user, limit: 200).threads == [])
          continue
        }
        let unread = history.timeline.dropFirst(Int(marker)).filter { !$0.isDeleted }
        let row = try #require(try queries.roomListRow(room, for: user))
        #expect(row.unreadCount == UInt64(unread.count))
        #expect(row.mentionCount == UInt64(unread.count { $0.mentions(user) }), "seed \(seed)")
        #expect(try queries.badges(of: user, at: now).mentions == row.mentionCount)
        try checkThreads(of: user, history, queries)
      }
      let wrong = try Int.fetchOne(
        database,
        sql: """
          SELECT COUNT(*) FROM threadFollower LEFT JOIN thread USING (roomId, root) WHERE seenActivity IS NOT
            CASE WHEN follows = 1 AND marker >= IFNULL(lastOrdinal, 0) THEN IFNULL(activity, 0) END
          """)
      #expect(wrong == 0, "who has come to a thread's end")
    }
  }

  private func checkThreads(of user: UserID, _ history: ConversationHistory, _ queries: RoomsQueries) throws {
    let page = try queries.followedThreads(of: user, limit: 200)
    var expected: [UInt64: (unread: Int, mentions: Int)] = [:]
    for (root, followers) in history.followers {
      let follower = followers[user]
      let reading = try queries.threadReading(root, in: history.room, of: user)
      #expect(reading?.follows == follower?.follows && reading?.marker == follower?.marker)
      guard let follower, follower.follows, history.knownLength(root) > 0 else {
        #expect(reading?.unreadCount ?? 0 == 0 && reading?.mentionCount ?? 0 == 0)
        continue
      }
      let replies = (history.threads[root] ?? []).dropFirst(Int(follower.marker))
      let unread = replies.compactMap { $0 }.filter { !$0.isDeleted }
      expected[root] = (unread.count, unread.count { $0.mentions(user) })
    }
    #expect(Set(page.threads.map(\.root)) == Set(expected.keys))
    #expect(page.threads.map(\.activity) == page.threads.map(\.activity).sorted(by: >))
    for thread in page.threads {
      #expect(thread.unreadCount == expected[thread.root].map { UInt64($0.unread) })
      #expect(thread.mentionCount == expected[thread.root].map { UInt64($0.mentions) })
      let reading = try queries.threadReading(thread.root, in: thread.room, of: user)
      #expect(reading?.unreadCount == thread.unreadCount && reading?.mentionCount == thread.mentionCount)
    }
    let sum = expected.values.reduce(0) { $0 + $1.unread }
    #expect(try queries.threadBadge(of: user, at: history.script.last.time) == UInt64(sum))
  }

  @Test("followed threads come in pages, the latest reply first")
  func pages() throws {
    let history = ConversationHistory(seed: 505, events: 2000)
    let queue = try build(RoomsProjection.self, history.script.events)
    try queue.read { (database) throws in
      let queries = RoomsQueries(database)
      for user in history.users {
        let all = try queries.followedThreads(of: user, limit: 200).threads
        var (walked, cursor): ([FollowedThread], LogPosition?) = ([], nil)
        repeat {
          let page = try queries.followedThreads(of: user, after: cursor, limit: 2)
          walked += page.threads
          cursor = page.next
        } while cursor != nil
        #expect(walked == all)
      }
    }
  }

  @Test("threads, reactions and pins on a page equal those of the history", arguments: seeds)
  func marks(seed: UInt64) throws {
    let history = ConversationHistory(seed: seed, events: 2500)
    let queue = try build(TimelineProjection.self, history.script.events, batch: 100)
    try queue.read { (database) throws in
      let queries = TimelineQueries(database)
      let reader = history.users[0]
      let page = try #require(try queries.page(of: history.room, for: reader, limit: 10_000))
      #expect(page.messages.count == history.timeline.count && page.threadID == nil)
      for (shown, message) in zip(page.shown, history.timeline) { check(shown, message, history, reader) }
      for (root, replies) in history.threads {
        let thread = try #require(
          try queries.page(of: history.room, thread: root, for: reader, limit: 10_000))
        let known = replies.compactMap { $0 }
        #expect(thread.messages.map(\.id) == known.map(\.id))
        #expect(thread.threadID == history.timeline[Int(root) - 1].id)
        for (shown, message) in zip(thread.shown, known) { check(shown, message, history, reader) }
      }
      let pins = try #require(try queries.pins(of: history.room, for: reader)).pins
      let all = history.timeline + history.threads.values.flatMap { $0.compactMap { $0 } }
      #expect(Set(pins.map(\.message.row.id)) == Set(all.filter(\.isPinned).map(\.id)))
      #expect(try queries.pins()[history.room]?.count ?? 0 == pins.count)
    }
  }

  private func check(
    _ shown: ShownMessage, _ message: ConversationHistory.Message, _ history: ConversationHistory, _ reader: UserID
  ) {
    #expect(shown.row.id == message.id && shown.row.location == message.location)
    #expect(shown.row.text == message.texts.last ?? "")
    #expect((shown.row.deletedAt != nil) == message.isDeleted)
    #expect(shown.annotations.isPinned == message.isPinned)
    #expect(
      Set(shown.annotations.reactions.map { "\($0.emoji) \($0.count) \($0.isMine)" })
        == Set(
          Dictionary(grouping: message.reactions, by: \.emoji).map { emoji, all in
            "\(emoji) \(all.count) \(all.contains { $0.user == reader })"
          }))
    let replies = (message.location.isInThread ? nil : history.threads[message.location.ordinal]) ?? []
    let remaining = replies.compactMap { $0 }.filter { !$0.isDeleted }
    guard replies.contains(where: { $0 != nil }) else {
      #expect(shown.annotations.thread == nil)
      return
    }
    #expect(shown.annotations.thread?.replyCount == UInt64(remaining.count))
    let participants = shown.annotations.thread?.participants ?? []
    #expect(Set(participants).isSubset(of: Set(remaining.map(\.author))))
    #expect(participants.count == min(Limits.threadParticipantsShown, Set(remaining.map(\.author)).count))
  }

  @Test("the texts that a message had are kept until it is deleted", arguments: seeds)
  func history(seed: UInt64) throws {
    let history = ConversationHistory(seed: seed, events: 2500)
    let queue = try build(TimelineProjection.self, history.script.events, batch: 100)
    try queue.read { (database) throws in
      let queries = TimelineQueries(database)
      let all = history.timeline + history.threads.values.flatMap { $0.compactMap { $0 } }
      for message in all {
        var (texts, cursor): ([String], LogPosition?) = ([], nil)
        repeat {
          let page = try #require(
            try queries.history(of: message.location, in: history.room, for: history.users[0], after: cursor, limit: 2))
          texts += page.versions.map(\.text)
          cursor = page.next
        } while cursor != nil
        #expect(texts == message.texts)
      }
      let rows = try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM revision")
      #expect(rows == all.reduce(0) { $0 + max(0, $1.texts.count - 1) })
    }
  }

  @Test("the ID index knows each message's location, and how far each root's thread has come", arguments: seeds)
  func locations(seed: UInt64) throws {
    let history = ConversationHistory(seed: seed, events: 1500)
    let queue = try build(IDIndexProjection.self, history.script.events, batch: 100)
    let all = history.timeline + history.threads.values.flatMap { $0.compactMap { $0 } }
    let keys = all.map { MessageKey(room: history.room, message: $0.id) }
    let found = try queue.read { try IDIndexQueries($0).messages(keys) }
    for (message, key) in zip(all, keys) {
      let known = found[key]
      #expect(known?.location == message.location && known?.isDeleted == message.isDeleted)
      let replies = message.location.isInThread ? 0 : history.knownLength(message.location.ordinal)
      #expect(known?.replies == replies)
    }
  }

  @Test("a mention of everyone is one entry, however many members there are")
  func everyone() throws {
    let room: RoomID = .numbered(9)
    var script = EventScript()
    script.create(room, by: .numbered(1))
    for member in 2...500 as ClosedRange<UInt64> {
      script.room(room, .members(.added(.numbered(member), role: .member)), by: .numbered(1))
    }
    let details = MessageDetails(mentions: Mentions(users: [.numbered(2), .numbered(3)], everyone: true))
    script.room(
      room,
      .messages(
        .sent(.numbered(1000), author: .numbered(1), thread: nil, MessageContent(text: "all", details: details))),
      by: .numbered(1))
    let queue = try build(RoomsProjection.self, script.events)
    try queue.read { (database) throws in
      #expect(try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM mention") == 1)
      #expect(try Int.fetchOne(database, sql: "SELECT COUNT(DISTINCT owner) FROM ordinalSet") == 1)
      for member in [2, 3, 500] as [UInt64] {
        #expect(try RoomsQueries(database).roomListRow(room, for: .numbered(member))?.mentionCount == 1)
      }
      #expect(try RoomsQueries(database).roomListRow(room, for: .numbered(1))?.mentionCount == 0)
    }
  }
}
