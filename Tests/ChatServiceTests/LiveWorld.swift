import ChatDomain
import ChatPrimitives
import ChatProjections

@testable import ChatService

/// A small world around `SyncStream` and `LiveIndex`: a log, a read model, the feed, and two users with one client and at
/// most one stream each. One room has messages; the second user joins and leaves it. Each step is what one part of the
/// server or one client does at once, so that a test can do them in any order.
struct LiveWorld {
  enum Step: Hashable {
    /// Events that are written, and not durable yet.
    case send, join, leave, ban
    case sync
    case project
    /// One cycle of the feed.
    case cycle
    case connect(Int)
    case signal(Int)
    case read(Int)
    /// The client takes the page that is being sent, and the server learns of it.
    case take(Int)
    /// The client takes the page, and its connection is lost before the server learns of it.
    case takeAndDrop(Int)
    case drop(Int)
    case tooSlow(Int)
    case end(Int)

    static let all: [Step] =
      [.send, .join, .leave, .ban, .sync, .project, .cycle]
      + [0, 1].flatMap {
        [.connect($0), .signal($0), .read($0), .take($0), .takeAndDrop($0), .drop($0), .tooSlow($0), .end($0)]
      }

    /// How often a random order has the step. Streams that are seldom dropped get to see more.
    private var weight: Int {
      switch self {
      case .sync, .project, .cycle, .signal, .read, .take: 8
      case .connect, .send, .join: 4
      case .leave: 2
      case .ban, .takeAndDrop, .drop, .tooSlow, .end: 1
      }
    }

    static let weighted: [Step] = all.flatMap { Array(repeating: $0, count: $0.weight) }
  }

  enum Event: Hashable {
    case message
    case joined(Int)
    case left(Int)
    case banned(Int)
  }

  static let users: [UserID] = [fixed(1), fixed(2)]
  static let room: RoomID = fixed(40)
  /// So small that catch-ups take several pages.
  static let pageLimit = 2

  private(set) var log: [Event] = [.joined(0)]
  private(set) var durable = 1
  private(set) var applied = 1
  private var feed = Feed()
  private(set) var clients = [Client(), Client()]
  /// What a check found.
  private(set) var failure: String?

  /// The part of the feed's thread: what `LiveCycle` does, without a thread.
  private struct Feed {
    var index = LiveIndex()
    var position = 1
  }

  struct Client {
    var position = SyncPosition(.origin)
    /// The messages of the room that the client has, by ordinal.
    var messages: Set<Int> = []
    var room: Int?
    var delivered: Set<Delivery> = []
    var stream: SyncStream?
    /// The stream's action that is under way.
    var action = SyncStream.Action.wait
    /// The head when the stream subscribed.
    var since = 0
    var isArriving = false
    var changes = PendingChanges(since: .origin)
    /// The messages that the client got without a read.
    var suppliedMessages = 0
  }

  struct Delivery: Hashable {
    var entity: SyncEntity
    var revision: LogPosition
  }

  private mutating func expect(_ condition: Bool, _ what: @autoclosure () -> String) {
    if !condition, failure == nil { failure = what() }
  }

  // MARK: - What is true

  /// Where a user's membership began, in the first `count` events. Nil if the user is not a member.
  private func joined(_ user: Int, at count: Int) -> Int? {
    for position in stride(from: count, to: 0, by: -1) {
      switch log[position - 1] {
      case .joined(user): return position
      case .left(user), .banned(user): return nil
      default: continue
      }
    }
    return nil
  }

  private func isBanned(_ user: Int) -> Bool { log.contains(.banned(user)) }

  /// What the read model names for a user after `applied` events: as in `SyncReader`, an entity has one revision.
  private func items(for user: Int) -> [(revision: Int, key: UInt8, entity: SyncEntity)] {
    var found: [(revision: Int, key: UInt8, entity: SyncEntity)] = []
    let events = log.prefix(applied)
    if let lost = events.lastIndex(where: { $0 == .left(user) || $0 == .banned(user) }) {
      found.append((lost + 1, 0, .lostRoom(Self.room)))
    }
    guard let joined = joined(user, at: applied) else { return found }
    found.append((applied, 1, .room(Self.room)))
    for (ordinal, position) in messages(applied).enumerated() {
      found.append((max(position, joined), UInt8(ordinal + 2), .message(.room(UInt64(ordinal)), in: Self.room)))
    }
    return found.sorted { ($0.revision, $0.key) < ($1.revision, $1.key) }
  }

  /// The positions of the messages among the first events.
  private func messages(_ count: Int) -> [Int] {
    log.prefix(count).indices.filter { log[$0] == .message }.map { $0 + 1 }
  }

  // MARK: - Steps

  /// - Returns: whether the step was possible.
  mutating func take(_ step: Step) -> Bool {
    switch step {
    case .send: return append(.message)
    case .join: return joined(1, at: log.count) == nil && !isBanned(1) && append(.joined(1))
    case .leave: return joined(1, at: log.count) != nil && append(.left(1))
    case .ban: return joined(1, at: log.count) != nil && append(.banned(1))
    case .sync:
      defer { durable = log.count }
      return durable < log.count
    case .project:
      defer { applied = min(applied + 1, durable) }
      return applied < durable
    case .cycle: return cycle()
    case .connect(let user): return connect(user)
    case .signal(let user): return signal(user)
    case .read(let user): return read(user)
    case .take(let user): return deliver(to: user) && give(.sent, to: user)
    case .takeAndDrop(let user): return deliver(to: user) && drop(user)
    case .drop(let user): return drop(user)
    case .tooSlow(let user):
      guard case .send = clients[user].action else { return false }
      return give(.ended(.tooSlow), to: user)
    case .end(let user): return clients[user].stream != nil && give(.ended(.sessionEnded), to: user)
    }
  }

  private mutating func append(_ event: Event) -> Bool {
    log.append(event)
    return true
  }

  private mutating func give(_ input: SyncStream.Input, to user: Int) -> Bool {
    guard var stream = clients[user].stream else { return false }
    clients[user].action = stream.take(input)
    clients[user].stream = stream
    if case .end = clients[user].action { return drop(user) }
    return true
  }

  private mutating func connect(_ user: Int) -> Bool {
    guard clients[user].stream == nil else { return false }
    clients[user].stream = SyncStream()
    clients[user].since = durable
    clients[user].isArriving = true
    clients[user].changes = PendingChanges(since: LogPosition(UInt64(durable)))
    return give(.authenticated(since: clients[user].position), to: user)
  }

  private mutating func drop(_ user: Int) -> Bool {
    guard clients[user].stream != nil else { return false }
    clients[user].stream = nil
    clients[user].action = .wait
    clients[user].isArriving = false
    return true
  }

  /// A stream that reads or sends remembers the signal.
  private mutating func signal(_ user: Int) -> Bool {
    guard var stream = clients[user].stream, let signal = clients[user].changes.take() else { return false }
    switch (signal, stream.state) {
    case (.supplied(let pages), .idle(let position)):
      if let page = SyncRequest(after: position, limit: Self.pageLimit).page(of: pages, after: position) {
        clients[user].suppliedMessages += page.items.count / 2
        return give(.supplied(page), to: user)
      }
      return give(.woken(through: pages[pages.count - 1].through), to: user)
    case (.changed(let through), .idle): return give(.woken(through: through), to: user)
    case (.supplied(let pages), _):
      expect(stream.take(.woken(through: pages[pages.count - 1].through)) == .wait, "a wake began something")
    case (.changed(let through), _): expect(stream.take(.woken(through: through)) == .wait, "a wake began something")
    default: expect(false, "an unexpected signal: \(signal)")
    }
    clients[user].stream = stream
    return true
  }

  private mutating func read(_ user: Int) -> Bool {
    guard clients[user].stream != nil, case .read(let position?, let wanted) = clients[user].action,
      applied >= durable
    else { return false }
    var target = wanted ?? LogPosition(UInt64(durable))
    var reached = (position: position.position, key: UInt8.max)
    if case .catchingUp(let progress) = position.stage {
      (target, reached) = (progress.target, (progress.reached, progress.key[0]))
    }
    let items = items(for: user).map { (revision: LogPosition(UInt64($0.revision)), key: $0.key, entity: $0.entity) }
      .filter { ($0.revision, $0.key) > reached && $0.revision > position.position && $0.revision <= target }
    var (next, hasMore) = (SyncPosition(target), position.stage != .complete && LogPosition(UInt64(durable)) > target)
    let first = items.prefix(Self.pageLimit)
    if items.count > first.count, let last = first.last {
      let progress = SyncProgress(
        target: target, part: 0, group: SyncGroup(), reached: last.revision, key: [last.key])
      (next, hasMore) = (SyncPosition(position.position, .catchingUp(progress)), true)
    }
    let page = SyncPage(
      items: first.map { SyncItem(revision: $0.revision, content: .removed($0.entity)) }, profiles: [:], next: next,
      more: hasMore)
    return give(.read(page), to: user)
  }

  /// The client stores the items together with the cursor.
  private mutating func deliver(to user: Int) -> Bool {
    guard let stream = clients[user].stream, case .send(let page) = clients[user].action else { return false }
    expect(stream.state == .sending(page), "a page was sent in \(stream.state)")
    let (old, new) = (clients[user].position, page.next)
    expect(new.position >= old.position, "the cursor went from \(old.position) back to \(new.position)")
    for item in page.items {
      guard case .removed(let entity) = item.content else { continue }
      expect(item.revision <= LogPosition(UInt64(durable)), "\(item.revision) was sent, and is not durable")
      let isNew = clients[user].delivered.insert(Delivery(entity: entity, revision: item.revision)).inserted
      expect(isNew, "\(entity) was sent twice at \(item.revision)")
      clients[user].apply(entity, item.revision)
    }
    clients[user].position = new
    return true
  }

  // MARK: - The feed

  private mutating func cycle() -> Bool {
    for user in clients.indices where clients[user].stream == nil { feed.index.remove(Self.users[user]) }
    let examined = durable
    guard applied >= examined else { return false }
    let arriving = clients.indices.filter { clients[$0].isArriving }
    guard !arriving.isEmpty || examined > feed.position else { return false }
    var loaded: Set<UserID> = []
    for user in arriving {
      clients[user].isArriving = false
      let id = Self.users[user]
      if feed.index.contains(id) {
        if feed.position > clients[user].since { wake(user, feed.position) }
      } else {
        feed.index.set(UserSpaces(rooms: joined(user, at: applied) == nil ? [] : [Self.room]), of: id)
        loaded.insert(id)
        if applied > clients[user].since { wake(user, applied) }
      }
    }
    var wakes = LiveWakes()
    for position in feed.position..<examined {
      let recorded = recorded(position + 1)
      feed.index.collect(recorded, into: &wakes)
      feed.index.apply(recorded.event)
    }
    feed.position = examined
    for user in clients.indices where !loaded.contains(Self.users[user]) {
      let messages = wakes.messages.filter { $0.audience.contains(Self.users[user]) }
      if wakes.readers.contains(Self.users[user]) {
        wake(user, examined)
      } else if !messages.isEmpty {
        wake(user, examined, content(of: messages.map { Int($0.position.value) }, for: user))
      }
    }
    return true
  }

  private mutating func wake(_ user: Int, _ position: Int, _ content: LiveContent? = nil) {
    guard clients[user].stream != nil else { return }
    clients[user].changes.add(through: LogPosition(UInt64(position)), content)
  }

  /// What a user gets of messages without a read. As in `LivePages`, the read model decides who sees them.
  private func content(of positions: [Int], for user: Int) -> LiveContent {
    guard let joined = joined(user, at: applied) else { return LiveContent(items: [], profiles: [:]) }
    let items = positions.filter { $0 > joined }.flatMap { position in
      let ordinal = messages(position).count - 1
      return [.room(Self.room), .message(.room(UInt64(ordinal)), in: Self.room)].map { (entity: SyncEntity) in
        SyncItem(revision: LogPosition(UInt64(position)), content: .removed(entity))
      }
    }
    return LiveContent(items: items, profiles: [:])
  }

  private func recorded(_ position: Int) -> RecordedEvent {
    let event: RoomEvent =
      switch log[position - 1] {
      case .message:
        .messages(.sent(fixed(UInt64(position)), author: Self.users[0], thread: nil, MessageContent(text: "")))
      case .joined(let user): .members(.joined(Self.users[user], role: .member, invite: nil))
      case .left(let user): .members(.left(Self.users[user]))
      case .banned(let user): .members(.banned(Self.users[user]))
      }
    return RecordedEvent(
      stamp: Stamp(position: LogPosition(UInt64(position)), time: Timestamp(milliseconds: 0)),
      version: StreamVersion(UInt64(position)), actor: Self.users[0], service: nil, device: nil, command: nil,
      originalTime: nil, event: .room(Self.room, event))
  }

  // MARK: - The end

  /// Lets everything settle. Streams that are open stay open, so a stream that was not woken does not get what it missed.
  mutating func settle() {
    for user in clients.indices { _ = connect(user) }
    var isBusy = true
    while isBusy, failure == nil {
      isBusy = false
      for step: Step in [.sync, .project, .cycle] where take(step) { isBusy = true }
      for user in clients.indices {
        for step: Step in [.signal(user), .read(user), .take(user)] where take(step) { isBusy = true }
      }
    }
    for (user, client) in clients.enumerated() {
      let isMember = joined(user, at: log.count) != nil
      let expected = isMember ? Set(messages(log.count).indices) : []
      expect(client.messages == expected, "user \(user) has \(client.messages.sorted()) of \(expected.count) messages")
      expect(client.room == (isMember ? log.count : nil), "user \(user) has the room as of \(client.room ?? 0)")
    }
  }
}

extension LiveWorld.Client {
  fileprivate mutating func apply(_ entity: SyncEntity, _ revision: LogPosition) {
    switch entity {
    case .lostRoom: (messages, room) = ([], nil)
    case .room: room = Int(revision.value)
    case .message(let location, _): messages.insert(Int(location.ordinal))
    default: break
    }
  }
}
