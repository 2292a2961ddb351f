import ChatDomain
import ChatPrimitives
import ChatProjections
import ChatService
import EventLogSimulation
import EventStore

/// The clients of one user. Some were away for a while, and some since the beginning.
struct SyncClients {
  static let count = 4

  private(set) var clients = [SyncClient(position: SyncPosition(.origin)), SyncClient(position: nil)]

  /// The first client always stays away. Of the others, there is one more each time until there are enough.
  mutating func keep(_ client: SyncClient, at index: Int) {
    if clients.count < Self.count {
      clients.append(client)
    } else if index > 0 {
      clients[index] = client
    }
  }
}

/// A client that mirrors what its user sees.
struct SyncClient {
  /// Nil before the first page of the initial state.
  var position: SyncPosition?
  var mirror = SyncMirror()
  /// Stays the same while the client reads the pages of one response.
  var perRoom: Int?

  /// Whether the client has not read all of the initial state.
  var isNew: Bool {
    switch position?.stage {
    case nil, .initial: true
    case .complete, .catchingUp: false
    }
  }

  fileprivate var place: String {
    (position.map { isNew ? "initial state at \($0.position)" : "\($0.position)" } ?? "nothing")
      + (perRoom.map { ", \($0) of each room" } ?? "")
  }
}

extension Comparison {
  /// Lets one of a user's clients catch up, and compares its mirror with what queries show. The client stays as it was, or
  /// goes on from here. Some clients are in the middle of a catch-up.
  mutating func compareSync(of user: UserID, _ known: inout SyncClients) async throws {
    let index = random.below(known.clients.count)
    var client = random.below(8) == 0 ? SyncClient(position: nil) : known.clients[index]
    if client.position.map({ $0.stage == .complete }) ?? true {
      client.perRoom = random.below(2) == 0 ? nil : random.within(1...4)
    }
    let limit = random.within(1...40)
    let what = "mirror of u\(user.short), from \(client.place), \(limit) at a time"
    var (delivered, last) = (Set<Delivered>(), client.position?.position ?? .origin)
    var more = true
    while more {
      let request = SyncRequest(after: client.position, limit: limit, perRoom: client.perRoom)
      let page = try await chat.changes(for: user, request)
      for item in page.items {
        try check(item, of: client, after: last, what)
        last = item.revision
        if let entity = item.content.subject, !delivered.insert(Delivered(entity, item)).inserted {
          throw Mismatch("\(what): twice", ["  \(item)"])
        }
        client.mirror.apply(item)
      }
      if client.isNew, page.next.stage == .complete { (delivered, last) = ([], page.next.position) }
      (client.position, more) = (page.next, page.more)
      // Sometimes the client loses its connection, and continues after other commands.
      if more, random.below(4) == 0 {
        known.keep(client, at: index)
        return
      }
    }
    let mirror = client.mirror
    try expect("\(what): the end", SyncPosition(chat.store.head), client.position)
    let expected = SyncMirror(of: try await contents(for: user))
    let lines = mirror.differences(from: expected)
    if !lines.isEmpty { throw Mismatch(what, lines) }
    for (entity, content) in mirror.entities {
      if case .member(let row) = content {
        try expect("\(what): profile in \(entity)", model.profile(of: row.user), mirror.profiles[row.user])
      }
    }
    known.keep(client, at: index)
  }

  private func check(_ item: SyncItem, of client: SyncClient, after last: LogPosition, _ what: String) throws {
    guard !client.isNew else {
      if item.content.isTombstone { throw Mismatch("\(what): a tombstone", ["  \(item)"]) }
      return
    }
    let since = client.position?.position ?? .origin
    if item.revision < last || item.revision <= since || item.revision > chat.store.head {
      throw Mismatch("\(what): the order", ["  \(item.revision) after \(last): \(item.content)"])
    }
  }

  /// Nothing is written while a client catches up, so it gets each entity once, and at most one tombstone before it.
  private struct Delivered: Hashable {
    let entity: SyncEntity
    let isTombstone: Bool

    init(_ entity: SyncEntity, _ item: SyncItem) {
      self.entity = entity
      isTombstone = item.content.isTombstone
    }
  }

  /// Everything that queries show the user, as items would contain it.
  private func contents(for user: UserID) async throws -> [SyncItem.Content] {
    guard try await chat.isRegistered(user) else { return [] }
    let (row, identities) = try await chat.account(of: user)
    var found: [SyncItem.Content] = [.account(row, identities), .preferences(try await chat.preferences(of: user))]
    found += try await chat.devices(of: user).map { .device($0) }
    found += try await chat.sessions(of: user).map { .session($0) }
    found += try await chat.blockedUsers(of: user, after: nil, limit: 1_000).blocked.map { .blockedUser($0) }
    let invitations = try await chat.invitations(of: user, before: nil, limit: 1_000)
    for row in invitations.invitations {
      if let workspace = invitations.workspaces[row.workspace] { found.append(.invitation(row, workspace)) }
    }
    found += try await chat.scheduledMessages(of: user, after: nil, limit: 1_000).messages.map { .scheduledMessage($0) }
    found += try await chat.followedThreads(of: user, after: nil, limit: 1_000).threads.map { .thread($0, root: $1) }
    for workspace in try await chat.workspaces(of: user, after: nil, limit: 1_000).workspaces {
      found += try await contents(of: workspace, for: user)
    }
    for list in [TrackedRoom.List.open, .archived, .hidden] {
      for row in try await chat.roomList(of: user, in: list, after: nil, limit: 1_000).rooms {
        found += try await contents(of: row, for: user)
      }
    }
    return found
  }

  private func contents(of row: WorkspaceListRow, for user: UserID) async throws -> [SyncItem.Content] {
    let id = row.workspace.id
    var found: [SyncItem.Content] = [.workspace(row)]
    guard row.member.role >= .member else { return found }
    found += try await chat.members(of: id, for: user, after: nil, limit: 1_000).members.map {
      .workspaceMember($0, of: id)
    }
    found += try await chat.channels(of: id, for: user, after: nil, limit: 1_000).rooms.lazy
      .filter { $0.member == nil }.map { .room($0) }
    return found
  }

  private func contents(of row: RoomListRow, for user: UserID) async throws -> [SyncItem.Content] {
    let id = row.room.id
    var found: [SyncItem.Content] = [.room(row)]
    found += try await chat.members(of: id, for: user, after: nil, limit: 1_000).members.map { .member($0) }
    found += try await chat.receipts(of: id, for: user, after: nil, limit: 1_000).receipts.map {
      .readMarker($0, in: id)
    }
    let page = try await chat.messages(of: id, for: user, .newest, limit: 10_000)
    for message in page.shown {
      found.append(.message(message))
      guard model.rooms[id]?.thread(of: message.row.id).isEmpty == false else { continue }
      let thread = try await chat.thread(message.row.id, of: id, for: user, .newest, limit: 10_000)
      found += thread.page.shown.map { .message($0) }
    }
    return found
  }
}
