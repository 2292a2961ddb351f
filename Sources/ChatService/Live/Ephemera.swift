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

/// Who types and who is online. In memory only, and without a clock: each input brings the time.
struct Ephemera: Sendable {
  var typists = Typists()
  var presences = Presences()
  /// What users said about their typing and what was not announced yet.
  private(set) var inputs: [TypingInput.Key: TypingInput] = [:]
  /// What has to be announced because of events.
  private var announcements: [TypingAnnouncement] = []
  private var separations: [Separation] = []

  // MARK: - Inputs

  /// Inputs that came later replace those of the same user and room.
  mutating func add(_ new: [TypingInput.Key: TypingInput]) {
    inputs.merge(new) { $1 }
  }

  /// - Returns: the inputs that can be announced; at most `Limits.typingPerCycle` of them begin something.
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
    case .members(.left(let user)), .members(.removed(let user)), .members(.banned(let user)),
      .members(.silenced(let user, _)):
      stop(user, in: room, at: position, now)
    case .lifecycle(.archived), .lifecycle(.deleted), .erased:
      announcements += typists.close(room, at: now)
    case .lifecycle(.created), .lifecycle(.edited), .lifecycle(.restored), .messages(.edited), .messages(.deleted),
      .members(.joined), .members(.added), .members(.admissionRepeated), .members(.roleChanged), .members(.unbanned),
      .members(.muted), .sharing, .annotations, .reading, .threads, .scheduling, .reports:
      break
    }
  }

  /// What the user said before the event does not hold any more.
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
    case .account(.disabled):
      announcements += typists.stop(user, at: now)
    case .blocks(.blocked(let other)):
      typists.separate(user, other)
      if presences.shown(user) != .offline { separations.append(Separation(blocker: user, blocked: other)) }
    case .account(.registered), .account(.profileChanged), .account(.emailSet), .account(.enabled),
      .blocks(.unblocked), .logins, .sessions, .devices, .media, .erased:
      break
    }
  }
}
