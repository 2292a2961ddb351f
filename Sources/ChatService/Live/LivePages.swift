import ChatDomain
import ChatPrimitives
import ChatProjections

/// Makes the pages of users whom only messages concern, with the same items as a catch-up. It reads each message once for all
/// users, and what differs for each user in one snapshot for many users. Most events in a chat are messages, and a catch-up
/// of one message costs ten times as much, because it looks for everything that could have changed.
///
/// The readers of a catch-up (`RoomsContents`, `TimelineQueries`) decide what an entity is and who sees it.
struct LivePages {
  private struct Shared {
    /// Its audience is the users who have not got the message yet.
    var message: LiveMessage
    /// Nil if the message has changed since. Then a later cycle has it.
    let item: SyncItem?
    /// Users who block the author.
    let blockers: Set<UserID>
    let showsMarkers: Bool
  }

  private let readModels: ReadModels
  /// In the order of their positions.
  private var shared: [Shared] = []

  init(_ readModels: ReadModels) {
    self.readModels = readModels
  }

  /// Whether all users have got all messages.
  var isEmpty: Bool { shared.isEmpty }

  /// Adds messages, which the read models must have applied.
  /// - Parameter messages: in the order of their positions, all after those that were added before.
  /// - Returns: users who have to read, because these messages could not be read, or because too many wait.
  mutating func add(_ messages: [LiveMessage]) -> Set<UserID> {
    let messages = messages.filter { !$0.audience.isEmpty }
    guard !messages.isEmpty else { return [] }
    if shared.count + messages.count <= Limits.livePageMessages, let new = try? read(messages) {
      shared += new
      return []
    }
    let readers = (shared.map(\.message) + messages).reduce(into: Set<UserID>()) { $0.formUnion($1.audience) }
    shared = []
    return readers
  }

  /// Removes users whose streams read everything up to now themselves.
  mutating func remove(_ users: Set<UserID>) {
    guard !users.isEmpty, !isEmpty else { return }
    for index in shared.indices {
      for user in shared[index].message.audience(in: users) { shared[index].message.audience.remove(user) }
    }
    shared.removeAll { $0.message.audience.isEmpty }
  }

  /// What the next users get.
  struct Turn {
    var contents: [UserID: LiveContent] = [:]
    /// Users whose streams have to read.
    var readers: Set<UserID> = []
  }

  /// Removes the next users. Users of small rooms come first, and a large room is split over several cycles, so it delays
  /// nobody else.
  mutating func next(at now: Timestamp) -> Turn {
    var users: Set<UserID> = []
    for message in shared.map(\.message).sorted(by: { $0.audience.count < $1.audience.count }) {
      guard users.count < Limits.livePageUsers else { break }
      users.formUnion(message.audience.prefix(Limits.livePageUsers - users.count))
    }
    guard !users.isEmpty else { return Turn() }
    // If this fails, the streams read themselves.
    let contents = (try? contents(of: users, at: now)) ?? [:]
    remove(users)
    return Turn(contents: contents, readers: users.subtracting(contents.keys))
  }

  // MARK: - Reading

  /// Reads what is the same for all users.
  private func read(_ messages: [LiveMessage]) throws -> [Shared] {
    let items = try readModels.timeline.readBlocking { timeline in
      try messages.map { message in
        try timeline.unchangedMessage(sentAt: message.position, to: message.room, by: message.author).map {
          SyncItem(revision: message.position, content: .message($0), encoded: EncodedOnce())
        }
      }
    }
    return try readModels.rooms.readBlocking { rooms in
      try zip(messages, items).map { message, item in
        Shared(
          message: message, item: item,
          blockers: Set(try rooms.blockers(of: message.author, limit: Limits.livePageBlockers + 1)),
          showsMarkers: try rooms.room(message.room)?.largeSince == nil)
      }
    }
  }

  private func contents(of users: Set<UserID>, at now: Timestamp) throws -> [UserID: LiveContent] {
    var messages: [UserID: [Shared]] = [:]
    for each in shared {
      for user in each.message.audience(in: users) { messages[user, default: []].append(each) }
    }
    return try readModels.rooms.readBlocking { rooms in
      var found: [UserID: LiveContent] = [:]
      // A stream would not take a longer page, so its user reads.
      for (user, messages) in messages where messages.count <= Limits.syncDefaultItems {
        guard let items = try items(of: messages, for: RoomsContents(rooms: rooms, user: user, now: now)) else {
          continue
        }
        found[user] = LiveContent(items: items, profiles: [:])
      }
      let profiles = try rooms.profiles(of: Set(found.values.flatMap { $0.items.flatMap(\.content.users) }))
      for user in found.keys {
        for shown in found[user]?.items.flatMap(\.content.users) ?? [] {
          found[user]?.profiles[shown] = profiles[shown]
        }
      }
      return found
    }
  }

  /// Nil if the user has to read.
  private func items(of messages: [Shared], for reader: RoomsContents) throws -> [SyncItem]? {
    var joined: [RoomID: LogPosition?] = [:]
    var items: [SyncItem] = []
    for each in messages {
      let (room, position) = (each.message.room, each.message.position)
      guard each.blockers.count <= Limits.livePageBlockers else { return nil }
      // The room comes only with its last message, because only that position is its revision.
      func add(_ entity: SyncEntity) throws {
        guard let content = try reader.content(of: entity, at: position) else { return }
        items.append(SyncItem(revision: position, content: content))
      }
      try add(.room(room))
      if each.showsMarkers { try add(.readMarker(each.message.author, in: room)) }
      if joined[room] == nil { joined[room] = .some(try reader.rooms.member(reader.user, of: room)?.joined.position) }
      guard var item = each.item, let since = joined[room] ?? nil, since < position else { continue }
      if case .message(var message) = item.content, each.blockers.contains(reader.user) {
        message.isFromBlockedUser = true
        item = SyncItem(revision: position, content: .message(message))
      }
      items.append(item)
    }
    return items
  }
}
