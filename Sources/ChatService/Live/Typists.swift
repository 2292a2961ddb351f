import ChatPrimitives

/// A change of a typist, and the users who must not see it.
struct TypingAnnouncement: Sendable, Hashable {
  var notice: TypingNotice
  /// The users whom the typist blocks, and those who block the typist.
  var hiddenFrom: Set<UserID>
}

/// Who types in which room. It has no clock: each input brings the time.
struct Typists: Sendable {
  private struct Typist: Sendable {
    var user: UserID
    var since: Timestamp
    /// When the first of `starts` was.
    var windowBegan: Timestamp
    var starts: Int
    /// Stopped typists are kept for a while, so that starting and stopping in turn is limited too.
    var isStopped = false
    var hiddenFrom: Set<UserID>

    var until: Timestamp { since.adding(milliseconds: Limits.typingSeconds * 1000) }

    func isWithinInterval(of time: Timestamp, at now: Timestamp) -> Bool {
      now < time.adding(milliseconds: Limits.typingIntervalSeconds * 1000)
    }

    /// Whether another start would be announced.
    func acceptsStart(at now: Timestamp) -> Bool {
      isStopped
        ? starts < Limits.typingStarts || !isWithinInterval(of: windowBegan, at: now)
        : !isWithinInterval(of: since, at: now)
    }
  }

  private var rooms: [RoomID: [Typist]] = [:]
  private var ofUser: [UserID: Set<RoomID>] = [:]
  private(set) var count = 0

  // MARK: - Inputs

  /// Whether typing of this user in this room would be announced.
  func accepts(_ user: UserID, in room: RoomID, at now: Timestamp) -> Bool {
    let current = (rooms[room] ?? []).filter { $0.until > now }
    if let own = current.first(where: { $0.user == user }) { return own.acceptsStart(at: now) }
    return current.count(where: { !$0.isStopped }) < Limits.typistsShown
      && (ofUser[user]?.count ?? 0) < Limits.typingRoomsOfUser
      && count < Limits.typists
  }

  /// - Returns: what to announce; nil if nothing changes.
  mutating func start(
    _ user: UserID, in room: RoomID, hiddenFrom: Set<UserID>, at now: Timestamp
  ) -> TypingAnnouncement? {
    guard accepts(user, in: room, at: now) else { return nil }
    var typist = Typist(user: user, since: now, windowBegan: now, starts: 1, hiddenFrom: hiddenFrom)
    if let before = rooms[room]?.first(where: { $0.user == user }),
      before.isWithinInterval(of: before.windowBegan, at: now)
    {
      (typist.windowBegan, typist.starts) = (before.windowBegan, before.starts + 1)
    }
    remove(from: room) { $0.user == user || $0.until <= now }
    rooms[room, default: []].append(typist)
    ofUser[user, default: []].insert(room)
    count += 1
    return TypingAnnouncement(
      notice: TypingNotice(room: room, user: user, until: typist.until), hiddenFrom: hiddenFrom)
  }

  /// - Returns: what to announce; nil if the user did not type.
  mutating func stop(_ user: UserID, in room: RoomID, at now: Timestamp) -> TypingAnnouncement? {
    guard let index = rooms[room]?.firstIndex(where: { $0.user == user && $0.until > now && !$0.isStopped }) else {
      return nil
    }
    rooms[room]?[index].isStopped = true
    return rooms[room].map {
      TypingAnnouncement(
        notice: TypingNotice(room: room, user: user, until: nil), hiddenFrom: $0[index].hiddenFrom)
    }
  }

  /// In all rooms.
  mutating func stop(_ user: UserID, at now: Timestamp) -> [TypingAnnouncement] {
    (ofUser[user] ?? []).sorted().compactMap { stop(user, in: $0, at: now) }
  }

  /// Ends all typing in a room.
  mutating func close(_ room: RoomID, at now: Timestamp) -> [TypingAnnouncement] {
    (rooms[room] ?? []).map(\.user).compactMap { stop($0, in: room, at: now) }
  }

  /// From now on, neither user sees the other type or stop.
  mutating func separate(_ one: UserID, _ other: UserID) {
    for (user, unseen) in [(one, other), (other, one)] {
      for room in ofUser[user] ?? [] {
        guard let index = rooms[room]?.firstIndex(where: { $0.user == user }) else { continue }
        rooms[room]?[index].hiddenFrom.insert(unseen)
      }
    }
  }

  /// Removes typists whose time is over. Nothing is announced, because each announcement has the time at which it ends.
  mutating func expire(at now: Timestamp) {
    for room in Array(rooms.keys) { remove(from: room) { $0.until <= now } }
  }

  private mutating func remove(from room: RoomID, where isGone: (Typist) -> Bool) {
    guard let typists = rooms[room] else { return }
    for typist in typists where isGone(typist) {
      count -= 1
      ofUser[typist.user]?.remove(room)
      if ofUser[typist.user]?.isEmpty == true { ofUser[typist.user] = nil }
    }
    let rest = typists.filter { !isGone($0) }
    rooms[room] = rest.isEmpty ? nil : rest
  }
}
