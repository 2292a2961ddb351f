import ChatDomain
package import ChatPrimitives
import ChatProjections

/// A message that was sent to a room's own timeline, and the users in the index who see it.
struct LiveMessage: Sendable, Equatable {
  var position: LogPosition
  var room: RoomID
  var author: UserID
  var audience: Set<UserID>

  func except(_ users: Set<UserID>) -> LiveMessage {
    var message = self
    message.audience.subtract(users)
    return message
  }
}

/// The items that a user gets for the messages of one cycle.
struct LiveContent: Sendable, Hashable {
  /// In the order of a catch-up, and without `user` items.
  var items: [SyncItem]
  /// Of all users whom the items show.
  var nicknames: [UserID: String]
}

/// Everything that concerns a user between two positions. A stream that has everything up to the first can send it instead
/// of reading a page.
package struct LivePage: Sendable, Hashable {
  var after: LogPosition
  package var through: LogPosition
  var content: LiveContent
}

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
    for index in shared.indices { shared[index].message.audience.subtract(users) }
    shared.removeAll { $0.message.audience.isEmpty }
  }

  /// Removes the next users, and returns their content; nil for a user who has to read. Users of small rooms come first, and
  /// a large room is split over several cycles, so it delays nobody else.
  mutating func next(at now: Timestamp) -> [UserID: LiveContent?] {
    var users: Set<UserID> = []
    for message in shared.map(\.message).sorted(by: { $0.audience.count < $1.audience.count }) {
      guard users.count < Limits.livePageUsers else { break }
      users.formUnion(message.audience.prefix(Limits.livePageUsers - users.count))
    }
    guard !users.isEmpty else { return [:] }
    // If this fails, the streams read themselves.
    let contents = (try? contents(of: users, at: now)) ?? [:]
    remove(users)
    return users.reduce(into: [:]) { $0[$1] = .some(contents[$1]) }
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
    try readModels.rooms.readBlocking { rooms in
      var found: [UserID: LiveContent] = [:]
      for user in users {
        guard let items = try items(of: RoomsContents(rooms: rooms, user: user, now: now)) else { continue }
        found[user] = LiveContent(items: items, nicknames: [:])
      }
      let nicknames = try rooms.nicknames(of: Set(found.values.flatMap { $0.items.flatMap(\.content.users) }))
      for user in found.keys {
        for shown in found[user]?.items.flatMap(\.content.users) ?? [] {
          found[user]?.nicknames[shown] = nicknames[shown]
        }
      }
      return found
    }
  }

  /// Nil if the user has to read.
  private func items(of reader: RoomsContents) throws -> [SyncItem]? {
    var joined: [RoomID: LogPosition?] = [:]
    var items: [SyncItem] = []
    for each in shared where each.message.audience.contains(reader.user) {
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

extension SyncItem.Content {
  /// The room that the entity is, or is in, if it is one of those that a live page has.
  fileprivate var room: RoomID? {
    switch self {
    case .room(let row): row.room.id
    case .readMarker(_, let room): room
    case .message(let message): message.row.room
    case .account, .preferences, .device, .session, .blockedUser, .workspace, .workspaceMember, .invitation,
      .scheduledMessage, .member, .thread, .user, .badge, .gap, .unfollowedThread, .removed:
      nil
    }
  }
}

extension SyncRequest {
  /// What a catch-up from a position would return, if these pages have it.
  package func page(of pages: [LivePage], after position: SyncPosition) -> SyncPage? {
    guard position.stage == .complete, let first = pages.first, let last = pages.last,
      first.after <= position.position, last.through > position.position
    else { return nil }
    let items = pages.flatMap(\.content.items).filter { item in
      item.revision > position.position && filter.wants(item.content.type)
        && (item.content.room.map { filter.wants($0) } ?? true)
    }
    let messages = items.count { $0.content.type == .message }
    guard items.count <= limit, messages <= perRoom ?? .max else { return nil }
    var budget = PageBudget()
    guard items.allSatisfy({ budget.take($0.content.contentBytes) }) else { return nil }
    let nicknames = pages.reduce(into: [:]) { $0.merge($1.content.nicknames) { _, newer in newer } }
    return SyncPage(
      items: filter.withUsers(items, nicknames), nicknames: nicknames, next: SyncPosition(last.through), more: false)
  }
}
