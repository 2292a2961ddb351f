import ChatDomain
import ChatPrimitives
import ChatProjections
import ChatService
import EventLogSimulation

extension Comparison {
  /// Compares the threads that a user follows in rooms that are not archived, the latest reply first.
  mutating func compareThreads(of user: UserID) async throws {
    let rooms = model.roomList(of: user)
    let expected = rooms.flatMap { room in
      room.followedThreads(of: user).map { SeenThread($0, in: room, for: user, model) }
    }.sorted { $0.activity > $1.activity }
    var (found, cursor): ([SeenThread], LogPosition?) = ([], nil)
    let limit = random.within(1...4)
    repeat {
      let page = try await chat.followedThreads(of: user, after: cursor, limit: limit)
      found += page.threads.map { SeenThread($0.0, root: $0.root) }
      cursor = page.next
    } while cursor != nil && found.count <= expected.count
    try expect("threads of u\(user.short), \(limit) at a time", expected, found)
  }

  /// Compares the member's reading state of one thread with the one in a page of it.
  func compareReading(of root: MessageID, in room: ModelRoom, for user: UserID) async throws {
    let found = try await chat.thread(root, of: room.id, for: user, .newest, limit: 1).reading
    try expect(
      "reading of m\(root.short) by u\(user.short)",
      room.threadState(root, by: user).map { SeenReading($0, room.unread(inThread: root, for: user), for: user) },
      found.map { SeenReading($0) })
  }
}

private struct SeenThread: Equatable {
  let room: RoomID
  let root: SeenPost
  let lastOrdinal: UInt64
  let marker: UInt64?
  let activity: LogPosition
  let unread: Int
  let mentions: Int

  init(_ root: ModelMessage, in room: ModelRoom, for user: UserID, _ model: ChatModel) {
    self.room = room.id
    self.root = SeenPost(root, in: room, for: user, model)
    lastOrdinal = UInt64(room.thread(of: root.id).count)
    marker = room.threadState(root.id, by: user)?.marker
    activity = room.lastReply(to: root.id)
    let unread = room.unread(inThread: root.id, for: user)
    self.unread = unread.count
    mentions = unread.count { $0.isMention(of: user) }
  }

  init(_ thread: FollowedThread, root: ShownMessage) {
    room = thread.room
    self.root = SeenPost(root)
    lastOrdinal = thread.lastOrdinal
    marker = thread.marker
    activity = thread.activity
    unread = Int(thread.unreadCount)
    mentions = Int(thread.mentionCount)
  }
}

private struct SeenReading: Equatable {
  let follows: Bool
  let marker: UInt64
  let unread: Int
  let mentions: Int

  init(_ state: ThreadState, _ unread: [ModelMessage], for user: UserID) {
    follows = state.follows
    marker = state.marker
    self.unread = follows ? unread.count : 0
    mentions = follows ? unread.count { $0.isMention(of: user) } : 0
  }

  init(_ reading: ThreadReading) {
    follows = reading.follows
    marker = reading.marker
    unread = Int(reading.unreadCount)
    mentions = Int(reading.mentionCount)
  }
}
