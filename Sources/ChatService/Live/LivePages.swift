import ChatDomain
package import ChatPrimitives
import ChatProjections

/// A message that was sent to a room's own timeline, and the users in the index who see it.
struct LiveMessage: Sendable, Equatable {
  var position: LogPosition
  var room: RoomID
  var author: UserID
  var audience: Set<UserID>
}

/// What a user gets of the messages of one cycle.
struct LiveContent: Sendable, Hashable {
  /// In the order of a catch-up, without `user` items.
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

/// Makes what a catch-up would return to the users whom nothing but messages concerns. It reads each message once for all
/// users, and what differs for each user in one snapshot for many. Most of what happens in a chat is messages, and a
/// catch-up of one message costs ten times as much, because it looks for what has changed.
///
/// What an entity is and who sees it is decided by the readers of a catch-up (`RoomsContents`, `TimelineQueries`).
struct LivePages {
  private struct Shared {
    let message: LiveMessage
    /// Nil if the message changed again, so that a later cycle has it.
    let item: SyncItem?
    /// Users who block the author.
    let blockers: Set<UserID>
    let showsMarkers: Bool
  }

  private let readModels: ReadModels
  private let now: Timestamp
  private let shared: [Shared]

  /// Reads what is the same for all users.
  /// - Parameter messages: in the order of their positions. The read models must have applied them.
  init(_ messages: [LiveMessage], _ readModels: ReadModels, at now: Timestamp) throws {
    self.readModels = readModels
    self.now = now
    let items = try readModels.timeline.readBlocking { timeline in
      try messages.map { message in
        try timeline.unchangedMessage(sentAt: message.position, to: message.room, by: message.author).map {
          SyncItem(revision: message.position, content: .message($0), encoded: EncodedOnce())
        }
      }
    }
    shared = try readModels.rooms.readBlocking { rooms in
      try zip(messages, items).map { message, item in
        Shared(
          message: message, item: item,
          blockers: Set(try rooms.blockers(of: message.author, limit: Limits.livePageBlockers + 1)),
          showsMarkers: try rooms.room(message.room)?.largeSince == nil)
      }
    }
  }

  /// What each user gets. A user who is not in the result has to read.
  func contents(of users: some Sequence<UserID>) throws -> [UserID: LiveContent] {
    try readModels.rooms.readBlocking { rooms in
      var found: [UserID: LiveContent] = [:]
      for user in users {
        guard let items = try items(of: user, rooms) else { continue }
        found[user] = LiveContent(items: items, nicknames: [:])
      }
      let nicknames = try rooms.nicknames(of: Set(found.values.flatMap { $0.items.flatMap(\.content.users) }))
      for user in found.keys {
        let shown = Set(found[user]?.items.flatMap(\.content.users) ?? [])
        found[user]?.nicknames = nicknames.filter { shown.contains($0.key) }
      }
      return found
    }
  }

  /// Nil if the user has to read.
  private func items(of user: UserID, _ rooms: RoomsQueries) throws -> [SyncItem]? {
    let reader = RoomsContents(rooms: rooms, user: user, now: now)
    var joined: [RoomID: LogPosition?] = [:]
    var items: [SyncItem] = []
    for each in shared where each.message.audience.contains(user) {
      let (room, position) = (each.message.room, each.message.position)
      guard each.blockers.count <= Limits.livePageBlockers else { return nil }
      func add(_ entity: SyncEntity) throws {
        guard let content = try reader.content(of: entity, at: position) else { return }
        items.append(SyncItem(revision: position, content: content))
      }
      try add(.room(room))
      if each.showsMarkers { try add(.readMarker(each.message.author, in: room)) }
      if joined[room] == nil { joined[room] = .some(try rooms.member(user, of: room)?.joined.position) }
      guard var item = each.item, let since = joined[room] ?? nil, since < position else { continue }
      if case .message(var message) = item.content, each.blockers.contains(user) {
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
    let nicknames = pages.reduce(into: [:]) { $0.merge($1.content.nicknames) { _, newer in newer } }
    return SyncPage(
      items: filter.withUsers(items, nicknames), nicknames: nicknames, next: SyncPosition(last.through), more: false)
  }
}
