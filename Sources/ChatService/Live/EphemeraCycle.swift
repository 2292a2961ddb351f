import ChatDomain
import ChatPrimitives
import ChatProjections
import EventStore

/// The part of the feed's thread for typing and presence.
///
/// Why nobody sees more than they may: at the end of a cycle, the index has all events up to a position, and the read
/// models too. What is shown is decided then, from both. Later events take it back: a user who blocks another one, hides
/// the presence or leaves is applied to what is shown before anything else is.
struct EphemeraCycle {
  private let feed: LiveFeed
  private var ephemera = Ephemera()
  /// Streams that were not shown yet who is online.
  private var newcomers: [LiveSignals] = []
  private var nextLook = Timestamp(milliseconds: 0)

  /// How often it looks for what has expired, in milliseconds.
  private static let lookMilliseconds: Int64 = 1_000

  init(_ feed: LiveFeed) {
    self.feed = feed
  }

  /// Whether something is left for the next cycle.
  var isBusy: Bool { !ephemera.inputs.isEmpty || ephemera.presences.hasReady || !newcomers.isEmpty }

  // MARK: - One cycle

  /// Takes what users said. Call it before the cycle reads the log's head, so that the cycle has the events before.
  mutating func begin() {
    let (news, presences) = feed.withRegistry { $0.takeNews() }
    let now = feed.now()
    ephemera.add(news.typing)
    newcomers += news.streams
    for (user, presence) in presences { ephemera.presences.set(user, presence, at: now) }
    guard now >= nextLook || nextLook > now.adding(milliseconds: Self.lookMilliseconds) else { return }
    nextLook = now.adding(milliseconds: Self.lookMilliseconds)
    ephemera.presences.look(at: now)
    ephemera.typists.expire(at: now)
  }

  /// Forgets everything, because nobody has a stream and events were not applied.
  mutating func forget() {
    ephemera = Ephemera()
  }

  mutating func apply(_ recorded: RecordedEvent) {
    ephemera.apply(recorded, at: feed.now())
  }

  /// Shows what is new. Call it at the end of a cycle.
  mutating func show(_ index: LiveIndex) throws {
    let now = feed.now()
    for announcement in ephemera.takeAnnouncements() { show(announcement, index) }
    for each in ephemera.takeSeparations() { hide(each.blocker, from: each.blocked, index) }
    // First, so that a stream that just began is not shown the same twice.
    try showNewcomers(index)
    try showPresence(at: now, index)
    try showTyping(at: now, index)
  }

  private func show(_ notice: LiveNotice, to users: some Sequence<UserID>) {
    let streams = feed.withRegistry { registry in users.flatMap { registry.streams(of: $0) } }
    for signals in streams { signals.add(notice) }
  }

  // MARK: - Typing

  private func show(_ announcement: TypingAnnouncement, _ index: LiveIndex) {
    let notice = announcement.notice
    let others = index.members[notice.room].subtracting(announcement.hiddenFrom).filter { $0 != notice.user }
    show(.typing(notice), to: others)
  }

  private mutating func showTyping(at now: Timestamp, _ index: LiveIndex) throws {
    let (started, stopped) = ephemera.takeInputs(at: now)
    for key in stopped {
      guard let announcement = ephemera.typists.stop(key.user, in: key.room, at: now) else { continue }
      show(announcement, index)
    }
    let watched = started.filter { key in index.members[key.room].contains { $0 != key.user } }
    guard !watched.isEmpty else { return }
    let hidden = try hidden(Set(watched.map(\.user)))
    for key in watched {
      guard let unseen = hidden[key.user],
        let announcement = ephemera.typists.start(key.user, in: key.room, hiddenFrom: unseen, at: now)
      else { continue }
      show(announcement, index)
    }
  }

  /// For each user whose typing can be shown, the users to whom it is not.
  private func hidden(_ users: Set<UserID>) throws -> [UserID: Set<UserID>] {
    var hidden = try feed.readModels.accounts.readBlocking { accounts in
      var found: [UserID: Set<UserID>] = [:]
      for user in users where try accounts.preferences(of: user)?.sharesPresence == true {
        found[user] = try accounts.blockedIDs(of: user)
      }
      return found
    }
    let blockers = try feed.readModels.rooms.readBlocking { rooms in
      try hidden.keys.map { ($0, try rooms.blockers(of: $0, limit: Limits.typingBlockers + 1)) }
    }
    for (user, blockers) in blockers {
      if blockers.count > Limits.typingBlockers { hidden[user] = nil } else { hidden[user]?.formUnion(blockers) }
    }
    return hidden
  }

  // MARK: - Presence

  /// The other users in the index who see the presence of a user in one of these rooms.
  private static func others(than user: UserID, in rooms: [RoomID], _ index: LiveIndex) -> Set<UserID> {
    var found: Set<UserID> = []
    for room in rooms { found.formUnion(index.members[room]) }
    found.remove(user)
    return found
  }

  private func roomsOfPresence(of users: [UserID]) throws -> [(UserID, [RoomID])] {
    try feed.readModels.rooms.readBlocking { rooms in
      try users.map {
        ($0, try rooms.roomsOfPresence(of: $0, limit: Limits.presenceRooms, members: Limits.presenceMembers))
      }
    }
  }

  private mutating func showPresence(at now: Timestamp, _ index: LiveIndex) throws {
    let users = ephemera.presences.takeReady(Limits.presencePerCycle)
    guard !users.isEmpty else { return }
    do {
      let rooms = try roomsOfPresence(of: users)
      let settings = try feed.readModels.accounts.readBlocking { accounts in
        try users.map { (try accounts.preferences(of: $0)?.sharesPresence ?? false, try accounts.blockedIDs(of: $0)) }
      }
      for ((user, rooms), (shares, blocked)) in zip(rooms, settings) {
        ephemera.presences.hide(user, !shares, at: now)
        guard let presence = ephemera.presences.tell(user, at: now) else { continue }
        let others = Self.others(than: user, in: rooms, index).subtracting(blocked)
        show(.presence(PresenceNotice(user: user, presence: presence)), to: others)
      }
    } catch {
      ephemera.presences.putBack(users)
      throw error
    }
  }

  /// A user who was just blocked does not see any more that the other one is online.
  private func hide(_ user: UserID, from other: UserID, _ index: LiveIndex) {
    guard !index.members.spaces(of: user).isDisjoint(with: index.members.spaces(of: other)) else { return }
    show(.presence(PresenceNotice(user: user, presence: .offline)), to: [other])
  }

  /// Shows to new streams who is online.
  private mutating func showNewcomers(_ index: LiveIndex) throws {
    let next = Array(newcomers.prefix(Limits.presencePerCycle))
    newcomers.removeFirst(next.count)
    let open = feed.withRegistry { registry in next.filter { registry.isOpen($0) } }
    newcomers += open.filter { !index.contains($0.user) }
    let streams = open.filter { index.contains($0.user) }
    guard !streams.isEmpty else { return }
    do {
      try showPresences(to: streams, index)
    } catch {
      newcomers += streams
      throw error
    }
  }

  private func showPresences(to streams: [LiveSignals], _ index: LiveIndex) throws {
    let users = Array(Set(streams.map(\.user)))
    let seen = try roomsOfPresence(of: users).map { user, rooms in
      (user, Self.others(than: user, in: rooms, index).filter { ephemera.presences.shown($0) != .offline })
    }
    let visible = try feed.readModels.accounts.readBlocking { accounts in
      try seen.map { user, others in (user, try others.filter { try accounts.block(of: user, by: $0) == nil }) }
    }
    for (user, others) in visible {
      for signals in streams where signals.user == user {
        for other in others {
          signals.add(.presence(PresenceNotice(user: other, presence: ephemera.presences.shown(other))))
        }
      }
    }
  }
}
