import ChatDomain
import ChatPrimitives
import ChatService
import EventLogSimulation

/// Makes one command after the other from a seed. Most of them are valid in the current state of the model.
struct CommandGenerator {
  static let userCount = 12
  static let roomCount = 8
  static let workspaceCount = 2

  var random: SeededRandom
  let clock: ModelClock
  /// The commands before the random ones, in reverse order.
  private var opening: [Step] = []
  /// The end of the last new ID.
  private var lastNumber: UInt64 = 0
  let users = (1...Self.userCount).map { Numbered.user($0) }
  /// Idempotency keys that were used, to be used again for other commands.
  var usedKeys: [CommandID] = []
  /// The password of each version of a user's credential.
  var passwords: [UserID: [UInt32: String]] = [:]
  /// The users whose accounts are disabled now.
  private var disabled: Set<UserID> = []
  /// The uploads that each user may see.
  private var visibleMedia: [UserID: [MediaID]] = [:]

  /// - Parameter makesEveryEvent: starts with commands that record each kind of event once.
  init(seed: UInt64, clock: ModelClock, makesEveryEvent: Bool) {
    random = SeededRandom(seed: seed)
    self.clock = clock
    if makesEveryEvent { opening = openingSteps().reversed() }
  }

  // MARK: - Drawing

  mutating func newID<Entity>() -> ID<Entity> {
    lastNumber += 1
    return ID(UUIDBytes(high: 0x1000_0000_0000_7000 | random.next() >> 4 & 0xffff_0000, low: lastNumber))
  }

  /// A new key, or rarely one that its actor may have used for another command.
  mutating func key() -> CommandID {
    if random.isOne(in: 80), let used = usedKeys.randomElement(using: &random) { return used }
    let key: CommandID = newID()
    usedKeys.append(key)
    return key
  }

  /// Mostly a user whose account is not disabled.
  mutating func anyone() -> UserID {
    if chance(95), let user = pick(users.filter { !disabled.contains($0) }) { return user }
    return users[random.below(users.count)]
  }

  /// Mostly a file that the user may see.
  mutating func media(seenBy user: UserID) -> MediaID? {
    if chance(95) { return pick(visibleMedia[user] ?? []) }
    return pick(users.flatMap { visibleMedia[$0] ?? [] })
  }

  mutating func chance(_ percent: Int) -> Bool { random.below(100) < percent }

  mutating func pick<T>(_ choices: [T]) -> T? { choices.isEmpty ? nil : choices[random.below(choices.count)] }

  /// A room of the model that is not deleted.
  mutating func anyRoom(_ model: ChatModel) -> ModelRoom? {
    pick(model.rooms.values.filter { $0.exists }.sorted { $0.age < $1.age })
  }

  mutating func anyWorkspace(_ model: ChatModel) -> ModelWorkspace? {
    pick(model.workspaces.values.filter { $0.exists }.sorted { $0.age < $1.age })
  }

  /// Mostly a member of the room, rarely any user.
  mutating func actor(in room: ModelRoom) -> UserID {
    if chance(94), let member = pick(able(room.members)) { return member.user }
    return anyone()
  }

  private func able(_ members: [ModelMember]) -> [ModelMember] { members.filter { !disabled.contains($0.user) } }

  /// Mostly a member who may lead the room.
  mutating func leader(of room: ModelRoom) -> UserID {
    if chance(85), let member = pick(able(room.members).filter { $0.role >= .administrator }) { return member.user }
    return actor(in: room)
  }

  /// Some words contain others, and searches write some with combining marks.
  static let words = [
    "tea", "milk", "sugar", "\u{CC28}", "caf\u{E9}", "\u{1F375}", "no", "later", "Tea", "\u{D68C}\u{C758}",
    "\u{D68C}\u{C758}\u{B85D}", "\u{C810}\u{C2EC}\u{C2DC}\u{AC04}", "\u{C8FC}\u{AC04}\u{D68C}\u{C758}",
  ]

  mutating func text() -> String {
    (0...random.below(6)).map { _ in Self.words[random.below(Self.words.count)] }.joined(separator: " ")
      + " \(random.below(1000))"
  }

  /// Far enough from now that a moment makes no difference to the model.
  mutating func farTime() -> Timestamp {
    let days = Int64(random.within(1...300)) * (chance(30) ? -1 : 1)
    return clock.now().adding(milliseconds: days * 86_400_000)
  }
}

// MARK: - The next command

extension CommandGenerator {
  private typealias Draw = @Sendable (inout CommandGenerator, ChatModel) -> Step?

  /// The relative frequency of each kind of command.
  private static let draws: [(weight: Int, draw: Draw)] = [
    (34, { $0.send($1) }), (6, { $0.importMessage($1) }), (9, { $0.editMessage($1) }), (9, { $0.deleteMessage($1) }),
    (10, { $0.moveMarker($1) }), (8, { $0.react($1) }), (4, { $0.pin($1) }), (5, { $0.moveThreadMarker($1) }),
    (3, { $0.setThreadFollowing($1) }), (4, { $0.markUnread($1) }), (2, { $0.setPreferences($1) }),
    (4, { $0.upload($1) }),
    (6, { $0.schedule($1) }), (2, { $0.changeScheduled($1) }), (3, { $0.cancelScheduled($1) }), (6, { $0.sendDue($1) }),
    (3, { $0.mute($1) }),
    (2, { $0.createRoom($1) }), (2, { $0.openDirectRoom($1) }), (3, { $0.editRoom($1) }), (3, { $0.archive($1) }),
    (1, { $0.deleteRoom($1) }), (3, { $0.changeRole($1) }), (1, { $0.transfer($1) }), (3, { $0.ban($1) }),
    (2, { $0.unban($1) }), (4, { $0.silence($1) }),
    (6, { $0.fileReport($1) }), (4, { $0.resolveReport($1) }), (2, { $0.reopenReport($1) }),
    (1, { $0.createWorkspace($1) }), (2, { $0.editWorkspace($1) }), (1, { $0.deleteWorkspace($1) }),
    (4, { $0.inviteIntoWorkspace($1) }), (4, { $0.answerInvitation($1) }), (2, { $0.joinWorkspace($1) }),
    (2, { $0.leaveWorkspace($1) }), (2, { $0.changeWorkspaceRole($1) }), (1, { $0.transferWorkspace($1) }),
    (2, { $0.createWorkspaceInvite($1) }), (1, { $0.revokeWorkspaceInvite($1) }),
    (3, { $0.acceptWorkspaceInvite($1) }),
    (8, { $0.addMember($1) }), (5, { $0.removeMember($1) }), (5, { $0.leave($1) }), (3, { $0.join($1) }),
    (4, { $0.createInvite($1) }), (2, { $0.revokeInvite($1) }), (6, { $0.acceptInvite($1) }),
    (2, { $0.changeProfile($1) }), (3, { $0.startSession($1) }), (3, { $0.refreshSession($1) }),
    (2, { $0.endSession($1) }), (6, { $0.setDevice($1) }), (1, { $0.removeDevice($1) }),
    (1, { $0.invalidateToken($1) }), (1, { $0.endSessions($1) }), (2, { $0.changePassword($1) }),
    (1, { $0.resetPassword($1) }), (1, { $0.setEmail($1) }), (2, { $0.logInElsewhere($1) }),
    (1, { $0.linkIdentity($1) }), (1, { $0.disable($1) }), (3, { $0.enable($1) }), (1, { $0.rotateSigningKey($1) }),
    (1, { $0.register($1) }), (4, { $0.block($1) }), (3, { $0.unblock($1) }),
  ]
  private static let total = draws.reduce(0) { $0 + $1.weight }

  /// The registrations of the users come first, then the rooms, then random commands.
  mutating func next(_ model: ChatModel) -> Step {
    disabled = Set(users.filter { model.users[$0]?.disabled != nil })
    for user in users { visibleMedia[user] = model.media(seenBy: user).map(\.id) }
    passTime()
    if let user = users.first(where: { model.users[$0] == nil }) { return register(user) }
    if let step = opening.popLast() { return step }
    if model.workspaces.values.filter({ $0.exists }).count < Self.workspaceCount, let step = createWorkspace(model) {
      return step
    }
    if model.rooms.values.filter({ $0.exists }).count < Self.roomCount, let step = createRoom(model) { return step }
    while true {
      var place = random.below(Self.total)
      for (weight, draw) in Self.draws {
        if place < weight {
          if let step = draw(&self, model) { return step }
          break
        }
        place -= weight
      }
    }
  }

  /// Mostly some seconds, and rarely so long that things expire.
  private mutating func passTime() {
    let seconds = chance(97) ? random.within(1...90) : random.within(20_000...300_000)
    clock.pass(milliseconds: Int64(seconds) * 1000 + Int64(random.below(1000)))
  }

  // MARK: - Shorthands

  /// A command on a room under a key.
  mutating func room(_ name: String, _ room: RoomID, _ command: RoomCommand, by user: UserID) -> Step {
    let key = key()
    let name = "u\(user.short) \(name) in r\(room.short) under k\(key.short)"
    return Step(name, user: user, room: room, rights: [.account] + Right.of(command, in: room, by: user)) {
      chat async throws(ServiceError) in
      Step.Receipt(try await chat.performRoom(room, command, by: Principal(user: user), command: key))
    }
  }
}
