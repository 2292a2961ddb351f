import ChatDomain
import ChatPrimitives
import EventStore

/// A user says that they type in a room, or that they have stopped.
struct TypingInput: Sendable, Hashable {
  struct Key: Sendable, Hashable {
    var user: UserID
    var room: RoomID
  }

  var isTyping: Bool
  /// The log's head when the user said so.
  var head: LogPosition
}

/// A user who is shown online has just blocked another one.
struct Separation: Sendable, Hashable {
  var blocker: UserID
  var blocked: UserID
}

/// A user and others who may now see each other's presence.
struct Meeting: Sendable, Hashable {
  /// The rooms that the user has joined.
  var rooms: Set<RoomID> = []
  /// The users whom the user has unblocked.
  var unblocked: Set<UserID> = []
}

/// Who types and who is online. It is in memory only and has no clock: each input brings the time.
struct Ephemera: Sendable {
  var typists = Typists()
  var presences = Presences()
  /// What users said about their typing and has not been announced yet.
  private(set) var inputs: [TypingInput.Key: TypingInput] = [:]
  /// The announcements that follow from events.
  private var announcements: [TypingAnnouncement] = []
  private var separations: [Separation] = []
  /// The meetings of users who have or recently had a stream.
  private(set) var meetings: [UserID: Meeting] = [:]
  /// The rooms of absent users: those whom others may still see as online or away although their last stream has ended.
  private(set) var absent = LiveAudience<RoomID>()

  // MARK: - Inputs

  /// Replaces earlier inputs of the same user and room.
  mutating func add(_ new: [TypingInput.Key: TypingInput]) {
    inputs.merge(new) { $1 }
  }

  /// - Returns: the inputs that can be announced now, with at most `Limits.typingPerCycle` users who begin to type.
  mutating func takeInputs(at now: Timestamp) -> (started: [TypingInput.Key], stopped: [TypingInput.Key]) {
    var (started, stopped): ([TypingInput.Key], [TypingInput.Key]) = ([], [])
    for (key, input) in inputs {
      if !input.isTyping {
        stopped.append(key)
      } else if !typists.accepts(key.user, in: key.room, at: now) {
        inputs[key] = nil
      } else if started.count < Limits.typingPerCycle {
        started.append(key)
      }
    }
    for key in started + stopped { inputs[key] = nil }
    return (started, stopped)
  }

  /// The user's last stream has ended.
  /// - Parameter rooms: the user's rooms, before the events of this cycle.
  mutating func leave(_ user: UserID, _ rooms: Set<RoomID>) {
    absent.remove(user)
    guard presences.isAbsent(user) else { return }
    for room in rooms { absent.insert(user, room) }
  }

  /// Removes what has expired.
  mutating func look(at now: Timestamp) {
    presences.look(at: now)
    typists.expire(at: now)
    for user in absent.allUsers where !presences.isAbsent(user) { absent.remove(user) }
  }

  mutating func takeMeetings(_ limit: Int) -> [UserID: Meeting] {
    let taken = Dictionary(uniqueKeysWithValues: meetings.prefix(limit).map { ($0.key, $0.value) })
    for user in taken.keys { meetings[user] = nil }
    return taken
  }

  mutating func putBack(_ taken: [UserID: Meeting]) {
    meetings.merge(taken) { Meeting(rooms: $0.rooms.union($1.rooms), unblocked: $0.unblocked.union($1.unblocked)) }
  }

  mutating func takeAnnouncements() -> [TypingAnnouncement] {
    defer { announcements = [] }
    return announcements
  }

  mutating func takeSeparations() -> [Separation] {
    defer { separations = [] }
    return separations
  }

  // MARK: - Events

  mutating func apply(_ recorded: RecordedEvent, at now: Timestamp) {
    switch recorded.event {
    case .room(let room, let event): apply(event, in: room, at: recorded.position, now)
    case .user(let user, let event): apply(event, of: user, now)
    case .workspace, .server: break
    }
  }

  private mutating func apply(_ event: RoomEvent, in room: RoomID, at position: LogPosition, _ now: Timestamp) {
    switch event {
    case .messages(.sent(_, let author, _, _)):
      stop(author, in: room, at: position, now)
    case .members(.left(let user)), .members(.removed(let user)), .members(.banned(let user)):
      absent.remove(user, room)
      stop(user, in: room, at: position, now)
    case .members(.silenced(let user, _)):
      stop(user, in: room, at: position, now)
    case .members(.joined(let user, _, _)), .members(.added(let user, _)):
      if presences.isAbsent(user) { absent.insert(user, room) }
      if presences.isKnown(user) { meetings[user, default: Meeting()].rooms.insert(room) }
    case .lifecycle(.deleted):
      absent.remove(room)
      announcements += typists.close(room, at: now)
    case .lifecycle(.archived), .erased:
      announcements += typists.close(room, at: now)
    case .lifecycle(.created), .lifecycle(.edited), .lifecycle(.restored), .messages(.edited), .messages(.deleted),
      .members(.admissionRepeated), .members(.roleChanged), .members(.unbanned), .members(.muted),
      .members(.notificationsSet), .members(.hidden), .members(.shown), .sharing, .annotations, .reading, .threads,
      .scheduling, .reports:
      break
    }
  }

  /// The user no longer types. Inputs from before the event are dropped.
  private mutating func stop(_ user: UserID, in room: RoomID, at position: LogPosition, _ now: Timestamp) {
    let key = TypingInput.Key(user: user, room: room)
    if let input = inputs[key], input.head < position { inputs[key] = nil }
    if let announcement = typists.stop(user, in: room, at: now) { announcements.append(announcement) }
  }

  private mutating func apply(_ event: UserEvent, of user: UserID, _ now: Timestamp) {
    switch event {
    case .account(.preferencesSet(let edit)):
      guard let shares = edit.sharesPresence else { return }
      presences.hide(user, !shares, at: now)
      if !shares { announcements += typists.stop(user, at: now) }
    case .account(.disabled), .deletion(.deleted):
      announcements += typists.stop(user, at: now)
    case .blocks(.blocked(let other)):
      typists.separate(user, other)
      if presences.shown(user) != .offline { separations.append(Separation(blocker: user, blocked: other)) }
    case .blocks(.unblocked(let other)):
      if presences.isKnown(user) { meetings[user, default: Meeting()].unblocked.insert(other) }
    case .account(.registered), .account(.profileChanged), .account(.emailSet), .account(.enabled), .logins, .sessions,
      .devices, .media, .deletion(.erased), .erased:
      break
    }
  }
}
