import ChatPrimitives

/// Who is online, and which presence others see. It has no clock: each input brings the time.
///
/// Others get at most one presence of each user in `Limits.presenceIntervalSeconds`, the newest. A user who hides the
/// presence is shown offline at once.
struct Presences: Sendable {
  private struct Entry: Sendable {
    /// What the user's streams say, or said last.
    var said = Presence.offline
    /// When the user becomes offline, because the last stream has ended. Nil while there is a stream.
    var offlineAt: Timestamp?
    /// What others were told last.
    var shown = Presence.offline
    /// Others are not told before this time.
    var nextAt = Timestamp(milliseconds: 0)
    var isHidden = false

    func presence(at now: Timestamp) -> Presence {
      if isHidden { return .offline }
      if let offlineAt, offlineAt <= now { return .offline }
      return said
    }

    /// Whether the entry can be dropped, because it means the same as no entry.
    func isOver(at now: Timestamp) -> Bool {
      guard let offlineAt else { return said == .offline }
      return offlineAt <= now && shown == .offline && nextAt <= now
    }
  }

  private var users: [UserID: Entry] = [:]
  /// Users whose presence others have to be told now, and the same as a set.
  private var ready: [UserID] = []
  private var isReady: Set<UserID> = []
  /// Users whose entries change with the time.
  private var waiting: Set<UserID> = []

  var count: Int { users.count }
  var hasReady: Bool { !ready.isEmpty }

  // MARK: - Inputs

  /// - Parameter presence: what the user's streams say; nil if there is none.
  mutating func set(_ user: UserID, _ presence: Presence?, at now: Timestamp) {
    if let presence {
      guard users[user] != nil || users.count < Limits.presences else { return }
      var entry = users[user] ?? Entry()
      entry.said = presence
      entry.offlineAt = nil
      update(user, entry, at: now)
    } else if var entry = users[user], entry.offlineAt == nil {
      entry.offlineAt = now.adding(milliseconds: Limits.presenceGraceSeconds * 1000)
      update(user, entry, at: now)
    }
  }

  /// The user hides the presence, or shows it again. Does nothing if the user had no stream lately.
  mutating func hide(_ user: UserID, _ isHidden: Bool, at now: Timestamp) {
    guard var entry = users[user], entry.isHidden != isHidden else { return }
    entry.isHidden = isHidden
    if isHidden { entry.nextAt = now }
    update(user, entry, at: now)
  }

  /// Finds users whose presence has changed because time has passed.
  mutating func look(at now: Timestamp) {
    for user in waiting {
      guard let entry = users[user] else {
        waiting.remove(user)
        continue
      }
      update(user, entry, at: now)
    }
  }

  private mutating func update(_ user: UserID, _ entry: Entry, at now: Timestamp) {
    guard !entry.isOver(at: now) else {
      users[user] = nil
      waiting.remove(user)
      return
    }
    users[user] = entry
    let isNews = entry.presence(at: now) != entry.shown
    if isNews, entry.nextAt <= now, isReady.insert(user).inserted { ready.append(user) }
    if isNews || entry.offlineAt != nil { waiting.insert(user) } else { waiting.remove(user) }
  }

  // MARK: - What others see

  /// The presence of a user that a new stream gets.
  func shown(_ user: UserID) -> Presence {
    guard let entry = users[user], !entry.isHidden else { return .offline }
    return entry.shown
  }

  /// Whether the user has or recently had a stream.
  func isKnown(_ user: UserID) -> Bool { users[user] != nil }

  /// Whether the user's last stream has ended, but others still see the user as online or away, or may be told so soon.
  func isAbsent(_ user: UserID) -> Bool { users[user]?.offlineAt != nil }

  /// Users whose presence others may have to be told. Call `tell` for each, or `putBack`.
  mutating func takeReady(_ limit: Int) -> [UserID] {
    let users = ready.prefix(limit)
    ready.removeFirst(users.count)
    isReady.subtract(users)
    return Array(users)
  }

  mutating func putBack(_ users: [UserID]) {
    for user in users where isReady.insert(user).inserted { ready.append(user) }
  }

  /// Called when others get the presence of a user.
  /// - Returns: that presence; nil if there is nothing new.
  mutating func tell(_ user: UserID, at now: Timestamp) -> Presence? {
    guard var entry = users[user] else { return nil }
    let presence = entry.presence(at: now)
    guard presence != entry.shown, entry.nextAt <= now else {
      update(user, entry, at: now)
      return nil
    }
    entry.shown = presence
    entry.nextAt = now.adding(milliseconds: Limits.presenceIntervalSeconds * 1000)
    update(user, entry, at: now)
    return presence
  }
}
