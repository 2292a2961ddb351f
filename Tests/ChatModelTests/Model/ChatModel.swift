import ChatDomain
import ChatPrimitives

/// The whole chat world according to the log. Every list is stored as a list, and every number is counted again when it
/// is needed.
///
/// It is written from the rules of the design and from the contents of the events, and uses no decider and no
/// projection. It stores more than necessary and is not optimized.
struct ChatModel {
  private(set) var head = LogPosition.origin
  var users: [UserID: ModelUser] = [:]
  var rooms: [RoomID: ModelRoom] = [:]
  var workspaces: [WorkspaceID: ModelWorkspace] = [:]
  /// The generation of the key that signs access tokens.
  private(set) var signingKeyGeneration: UInt32 = 1
  /// The usage of each user on each UTC day, without what services do as the user.
  private(set) var usage: [Int64: [UserID: Usage]] = [:]
  /// What the first execution of each keyed command recorded.
  private(set) var commands: [ModelCommand: ModelKnownCommand] = [:]
  /// Violations of the laws that every log must satisfy.
  private(set) var breaches: [String] = []

  mutating func take(_ events: [RecordedEvent]) {
    for recorded in events { take(recorded) }
  }

  mutating func take(_ recorded: RecordedEvent) {
    if recorded.position != head.next { breach(recorded, "does not follow position \(head)") }
    if let law = law(brokenBy: recorded) { breach(recorded, law) }
    head = recorded.position
    charge(recorded)
    noteCommand(recorded)
    switch recorded.event {
    case .user(let id, let event): users[id, default: ModelUser(id: id)].take(event, recorded)
    case .room(let id, let event):
      rooms[id, default: ModelRoom(id: id)].take(event, recorded, blockers: blockers(ofAuthorOf: event, recorded))
    case .workspace(let id, let event): workspaces[id, default: ModelWorkspace(id: id)].take(event, recorded)
    case .server(.signingKeyRotated(let generation)): signingKeyGeneration = generation
    case .server(.pushOutcomesRecorded), .server(.legalHoldPlaced), .server(.legalHoldLifted), .server(.erased): break
    }
  }

  private func blockers(ofAuthorOf event: RoomEvent, _ recorded: RecordedEvent) -> Set<UserID> {
    var author = recorded.actor
    if case .messages(.sent(_, let sender, _, _)) = event { author = sender }
    guard let author else { return [] }
    return Set(users.values.filter { $0.blocks(author) }.map(\.id))
  }

  private mutating func charge(_ recorded: RecordedEvent) {
    guard let user = recorded.actor, recorded.service == nil else { return }
    let day = recorded.stamp.time.milliseconds / 86_400_000
    usage[day, default: [:]][user, default: Usage()].events += 1
    switch recorded.event {
    case .room(_, .messages(.sent)), .room(_, .scheduling(.scheduled)):
      usage[day, default: [:]][user, default: Usage()].messages += 1
    case .room, .user, .workspace, .server: break
    }
    if case .user(_, .media(.uploaded(_, let content, _))) = recorded.event {
      usage[day, default: [:]][user, default: Usage()].mediaBytes += content.size
    }
  }

  private mutating func noteCommand(_ recorded: RecordedEvent) {
    guard let command = ModelCommand(recorded), commands[command] == nil else { return }
    commands[command] = ModelKnownCommand(stamp: recorded.stamp, fingerprint: recorded.event.commandFingerprint)
  }

  /// What a user has used on the day of this time.
  func usage(of user: UserID, at time: Timestamp) -> Usage {
    usage[time.milliseconds / 86_400_000]?[user] ?? Usage()
  }

  private mutating func breach(_ recorded: RecordedEvent, _ law: String) {
    breaches.append("position \(recorded.position): \(recorded.event) \(law)")
  }

  mutating func forgetBreaches() { breaches = [] }
}

/// Identifies a keyed command. Each actor has separate keys.
struct ModelCommand: Hashable {
  /// The user, or the service that acts as itself.
  let actor: UUIDBytes
  let key: CommandID

  init(actor: UUIDBytes, key: CommandID) {
    self.actor = actor
    self.key = key
  }

  init?(_ recorded: RecordedEvent) {
    guard let key = recorded.command, let actor = recorded.actor?.uuid ?? recorded.service?.uuid else { return nil }
    self.init(actor: actor, key: key)
  }
}

struct ModelKnownCommand: Equatable {
  let stamp: Stamp
  let fingerprint: Fingerprint?
}

// MARK: - What users see

extension ChatModel {
  /// The room, if it exists and the user is in it.
  func room(_ id: RoomID, seenBy user: UserID) -> ModelRoom? {
    guard let room = rooms[id], !room.isDeleted, room.member(user) != nil else { return nil }
    return room
  }

  /// The rooms that the user is in.
  func rooms(of user: UserID) -> [ModelRoom] {
    rooms.values.filter { !$0.isDeleted && $0.member(user) != nil }
  }

  /// The user's rooms in the order of the room list: latest activity first, without archived ones.
  func roomList(of user: UserID) -> [ModelRoom] {
    rooms(of: user).filter { $0.archived == nil }.sorted { $0.activity > $1.activity }
  }

  /// The user's rooms that count for the badge at this time.
  private func ringingRooms(of user: UserID, at time: Timestamp) -> [ModelRoom] {
    roomList(of: user).filter { room in
      guard let muted = room.member(user)?.mutedUntil else { return true }
      return muted <= time
    }
  }

  func badge(of user: UserID, at time: Timestamp) -> Int {
    ringingRooms(of: user, at: time).reduce(0) { $0 + $1.unread(for: user) }
  }

  func mentionBadge(of user: UserID, at time: Timestamp) -> Int {
    ringingRooms(of: user, at: time).reduce(0) { $0 + $1.mentions(for: user) }
  }

  func threadBadge(of user: UserID, at time: Timestamp) -> Int {
    ringingRooms(of: user, at: time).reduce(0) { sum, room in
      sum + room.followedThreads(of: user).reduce(0) { $0 + room.unread(inThread: $1.id, for: user).count }
    }
  }

  /// The unread messages in the channels of one workspace.
  func badge(of user: UserID, in workspace: WorkspaceID, at time: Timestamp) -> (unread: Int, mentions: Int) {
    ringingRooms(of: user, at: time).filter { $0.creation?.workspace == workspace }.reduce((0, 0)) { sum, room in
      (sum.0 + room.unread(for: user), sum.1 + room.mentions(for: user))
    }
  }

  /// Whether the members of a direct room of two cannot write to each other.
  func refusesDirectMessages(_ room: ModelRoom) -> Bool {
    guard room.kind == .direct, room.members.count == 2 else { return false }
    return refuseDirectMessages(room.members[0].user, room.members[1].user)
  }

  func refuseDirectMessages(_ one: UserID, _ other: UserID) -> Bool {
    let (left, right) = (users[one], users[other])
    if left?.blocks(other) == true || right?.blocks(one) == true { return true }
    return left?.preferences.acceptsDirectMessages == false || right?.preferences.acceptsDirectMessages == false
  }

  func profile(of user: UserID) -> Profile? { users[user]?.profile }
}
