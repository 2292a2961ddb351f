import ChatDomain
import ChatPrimitives
import ChatProjections
import EventStore

/// The part of the feed's cycle that shows typing and presence.
///
/// Why nobody sees more than they may: what is shown is decided at the end of a cycle, when the index and the read models
/// have applied all events up to one position. A later block, departure or hidden presence is applied to what was shown
/// before anything else is shown.
struct EphemeraCycle {
  private let feed: LiveFeed
  private var ephemera = Ephemera()
  /// New streams that have not yet been shown who is online.
  private var newcomers: [LiveSignals] = []
  private var nextLook = Timestamp(milliseconds: 0)

  /// How often it looks for what has expired, in milliseconds.
  private static let lookMilliseconds: Int64 = 1_000

  init(_ feed: LiveFeed) {
    self.feed = feed
  }

  /// Whether something is left for the next cycle.
  var isBusy: Bool {
    !ephemera.inputs.isEmpty || ephemera.presences.hasReady || !newcomers.isEmpty || !ephemera.meetings.isEmpty
  }

  /// Whether no absent user can be shown. Then events need not be applied while nobody has a stream.
  var isEmpty: Bool { ephemera.absent.allUsers.isEmpty }

  // MARK: - One cycle

  /// Takes what users said. Call it before the cycle reads the log's head, so that the cycle has all earlier events.
  mutating func begin() {
    let (news, presences) = feed.withRegistry { $0.takeNews() }
    let now = feed.now()
    ephemera.add(news.typing)
    newcomers += news.streams
    for (user, presence) in presences { ephemera.presences.set(user, presence, at: now) }
    guard now >= nextLook || nextLook > now.adding(milliseconds: Self.lookMilliseconds) else { return }
    nextLook = now.adding(milliseconds: Self.lookMilliseconds)
    ephemera.look(at: now)
  }

  /// The user's last stream has ended. Call it before the user is removed from the index.
  mutating func leave(_ user: UserID, _ index: LiveIndex) {
    ephemera.leave(user, index.members.spaces(of: user))
  }

  /// Forgets everything. Call it if events were not applied, because nobody has a stream.
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
    // First: otherwise new streams would be shown some presences twice.
    try showNewcomers(index)
    try showMeetings(index)
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

  /// For each user whose typing may be shown, the users who must not see it.
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

  /// The other users of these rooms who see the user's presence, and whose presence the user sees: those in the index, and
  /// absent users who can still be shown.
  private func others(than user: UserID, in rooms: [RoomID], _ index: LiveIndex) -> Set<UserID> {
    var found: Set<UserID> = []
    for room in rooms {
      found.formUnion(index.members[room])
      found.formUnion(ephemera.absent[room])
    }
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
        let others = others(than: user, in: rooms, index).subtracting(blocked)
        show(.presence(PresenceNotice(user: user, presence: presence)), to: others)
      }
    } catch {
      ephemera.presences.putBack(users)
      throw error
    }
  }

  /// Shows a user as offline to someone whom the user has just blocked.
  private func hide(_ user: UserID, from other: UserID, _ index: LiveIndex) {
    let rooms = Set(index.members.spaces(of: user)).union(ephemera.absent.spaces(of: user))
    guard !rooms.isDisjoint(with: index.members.spaces(of: other)) else { return }
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
    let sights = try roomsOfPresence(of: users).flatMap { user, rooms in
      others(than: user, in: rooms, index).map { Sight(viewer: user, seen: $0) }
    }
    for sight in try visible(sights) {
      for signals in streams where signals.user == sight.viewer { signals.add(notice(sight)) }
    }
  }

  /// Shows users who have come to share a room to each other, and users who unblocked others to these.
  private mutating func showMeetings(_ index: LiveIndex) throws {
    let meetings = ephemera.takeMeetings(Limits.presencePerCycle)
    guard !meetings.isEmpty else { return }
    do {
      let sights = try roomsOfPresence(of: Array(meetings.keys)).flatMap { user, rooms -> [Sight] in
        guard let meeting = meetings[user] else { return [] }
        let met = others(than: user, in: rooms.filter { meeting.rooms.contains($0) }, index)
        let unblocked = meeting.unblocked.isEmpty ? [] : others(than: user, in: rooms, index)
        return met.map { Sight(viewer: user, seen: $0) }
          + met.union(unblocked.intersection(meeting.unblocked)).map { Sight(viewer: $0, seen: user) }
      }
      for sight in try visible(sights) { show(notice(sight), to: [sight.viewer]) }
    } catch {
      ephemera.putBack(meetings)
      throw error
    }
  }

  /// One user sees the presence of another.
  private struct Sight {
    var viewer: UserID
    var seen: UserID
  }

  private func notice(_ sight: Sight) -> LiveNotice {
    .presence(PresenceNotice(user: sight.seen, presence: ephemera.presences.shown(sight.seen)))
  }

  /// Leaves out users who are offline or block the viewer.
  private func visible(_ sights: [Sight]) throws -> [Sight] {
    let shown = sights.filter { ephemera.presences.shown($0.seen) != .offline }
    guard !shown.isEmpty else { return [] }
    return try feed.readModels.accounts.readBlocking { accounts in
      try shown.filter { try accounts.block(of: $0.viewer, by: $0.seen) == nil }
    }
  }
}
