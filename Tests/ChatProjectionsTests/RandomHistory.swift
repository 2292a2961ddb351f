import ChatDomain
import ChatPrimitives
import EventLogSimulation

/// A random history of users and rooms from a seed. It also has the state after these events, and a list of all
/// messages, without any read model.
struct RandomHistory {
  struct Message {
    let id: MessageID
    let author: UserID
    /// The members who blocked the author when it was sent.
    let leftOut: Set<UserID>
    var isDeleted = false
  }

  private(set) var script = EventScript()
  private(set) var users: [UserID: UserState] = [:]
  private(set) var rooms: [RoomID: RoomState] = [:]
  private(set) var workspaces: [WorkspaceID: WorkspaceState] = [:]
  private(set) var messages: [RoomID: [Message]] = [:]

  /// The reporters of resolved reports.
  var resolvedReports: [RoomID: [ReportID: UserID]] = [:]

  var random: SeededRandom
  /// Of blocks alone, so that a seed gives the same history as without them.
  private var blockRandom: SeededRandom
  private var steps = 0
  private var nextNumber: UInt64 = 1000
  /// The remaining events of the room and the workspace that are deleted at the end.
  var doomedRoomEvents: ArraySlice<RoomEvent> = []
  var doomedWorkspaceEvents: ArraySlice<WorkspaceEvent> = []
  let userIDs: [UserID]
  let roomIDs: [RoomID]
  let workspaceID: WorkspaceID = .numbered(300)
  let doomedRoom: RoomID = .numbered(190)
  let doomedWorkspace: WorkspaceID = .numbered(301)

  var events: [RecordedEvent] { script.events }

  init(seed: UInt64, events count: Int, users: Int = 8, rooms: Int = 5) {
    random = SeededRandom(seed: seed)
    blockRandom = SeededRandom(seed: seed &+ 1_000)
    userIDs = (1...UInt64(users)).map { .numbered($0) }
    roomIDs = (100...UInt64(99 + rooms)).map { .numbered($0) }
    for (index, user) in userIDs.enumerated() { register(user, index) }
    for (index, room) in roomIDs.enumerated() {
      let creator = userIDs[index % userIDs.count]
      // The creation of one room has its payload erased.
      var creation = RoomCreation(kind: .channel, name: "room \(index)", creator: creator)
      if index == 2 {
        creation.workspace = workspaceID
        creation.isPublic = true
        creation.topic = "topic"
      }
      record(index == 3 ? .erased(kind: 100) : .lifecycle(.created(creation)), in: room, by: creator)
      record(.members(.joined(creator, role: .owner, invite: nil)), in: room, by: creator)
    }
    for settled in [3, 5] as [UInt64] {
      let outcomes = PushOutcomes(settledThrough: LogPosition(settled), outcomes: [])
      script.add(.server(.pushOutcomesRecorded(outcomes)))
    }
    prepareWorkspaces()
    while script.events.count < count {
      step()
      steps += 1
      if steps.isMultiple(of: 200) { stepBlock() }
    }
  }

  private mutating func register(_ user: UserID, _ index: Int) {
    let credential = Credential(
      version: 1, hash: [UInt8](repeating: UInt8(index), count: 32), logRounds: 15, blockSize: 8, parallelism: 1)
    let registration = Registration(
      nickname: "user \(index)", email: index % 2 == 0 ? "u\(index)@example.org" : nil,
      externalID: index % 2 == 0 ? nil : "external-\(index)", credential: index % 2 == 0 ? credential : nil,
      commitmentKey: [UInt8](repeating: 7, count: 32))
    record(index == 5 ? .erased(kind: 1) : .account(.registered(registration)), of: user)
  }

  // MARK: - Recording

  private mutating func record(_ event: UserEvent, of user: UserID) {
    let stamp = script.user(user, event, command: chance(4) ? newID() : nil)
    UserDecider.evolve(&users[user, default: .absent], event, stamp, by: user)
  }

  mutating func record(_ event: WorkspaceEvent, of workspace: WorkspaceID, by actor: UserID?) {
    let stamp = script.add(.workspace(workspace, event), actor: actor, command: chance(5) ? newID() : nil)
    WorkspaceDecider.evolve(&workspaces[workspace, default: .absent], event, stamp, by: actor)
  }

  mutating func record(_ event: RoomEvent, in room: RoomID, by actor: UserID?) {
    let time = chance(6) ? script.last.time.adding(milliseconds: -Int64(random.next() % 1_000_000)) : nil
    let stamp = script.room(room, event, by: actor, command: chance(5) ? newID() : nil, at: time)
    RoomDecider.evolve(&rooms[room, default: .absent], event, stamp, by: actor)
  }

  mutating func chance(_ oneIn: UInt64) -> Bool { random.next() % oneIn == 0 }

  mutating func newID<Entity>() -> ID<Entity> {
    nextNumber += 1
    return ID(UUIDBytes(high: random.next() | 1, low: nextNumber))
  }

  // MARK: - Steps

  private mutating func step() {
    guard let room = roomIDs.randomElement(using: &random), let user = userIDs.randomElement(using: &random),
      let state = rooms[room]?.room
    else { return }
    switch random.next() % 27 {
    case 0: stepUser(user)
    case 20, 21: stepWorkspace(user)
    case 22: stepModeration(user, in: room, state)
    case 23: stepDoomed()
    case 1, 2: stepMembership(user, in: room, state)
    case 3: stepInvite(user, in: room, state)
    case 4:
      if state.members[user] != nil, chance(3) {
        let level = NotificationLevel.allCases.randomElement(using: &random)
        record(.members(.notificationsSet(user, level)), in: room, by: user)
      } else if state.members[user] != nil {
        record(
          .members(.muted(user, until: chance(2) ? script.last.time.adding(milliseconds: 5000) : nil)), in: room,
          by: user)
      }
    case 5: stepRoom(user, in: room)
    case 6, 7: stepMarker(user, in: room, state)
    case 8, 9, 10: stepDeletion(in: room)
    case 11: stepEdit(in: room)
    case 24: stepMark(user, in: room, state)
    case 25: stepScheduled(user, in: room, state)
    case 26: stepReport(user, in: room, state)
    default:
      if state.members[user] != nil { send(by: user, to: room) }
    }
  }

  private mutating func send(by user: UserID, to room: RoomID) {
    let message = Message(id: newID(), author: user, leftOut: blockers(of: user, in: room))
    messages[room, default: []].append(message)
    let content: MessageContent? = chance(50) ? nil : .plain("text \(random.next()) \u{1F375} \u{CC28}")
    record(.messages(.sent(message.id, author: user, thread: nil, content)), in: room, by: user)
  }

  private func blockers(of author: UserID, in room: RoomID) -> Set<UserID> {
    Set(
      (rooms[room]?.room?.members.users.map { $0 } ?? []).filter { member in
        guard case .registered(let user) = users[member] else { return false }
        return user.blockedUsers[author] != nil
      })
  }

  private mutating func stepBlock() {
    guard let user = userIDs.randomElement(using: &blockRandom), case .registered(let state) = users[user] else {
      return
    }
    var event: UserEvent?
    if let blocked = state.blockedUsers.keys.sorted().randomElement(using: &blockRandom), blockRandom.next() % 2 == 0 {
      event = .blocks(.unblocked(blocked))
    } else if let other = userIDs.randomElement(using: &blockRandom), other != user {
      event = .blocks(.blocked(other))
    }
    guard let event else { return }
    let stamp = script.user(user, event)
    UserDecider.evolve(&users[user, default: .absent], event, stamp, by: user)
  }

  private mutating func stepMarker(_ user: UserID, in room: RoomID, _ state: Room) {
    guard let member = state.members[user], member.marker < state.lastOrdinal else { return }
    let ordinal = UInt64.random(in: member.marker + 1...state.lastOrdinal, using: &random)
    guard let message = messages[room]?[Int(ordinal) - 1] else { return }
    record(.reading(.markerMoved(user, to: message.id, ordinal: ordinal)), in: room, by: user)
  }

  private mutating func stepMark(_ user: UserID, in room: RoomID, _ state: Room) {
    guard state.members[user] != nil, let all = messages[room], !all.isEmpty else { return }
    let index = Int.random(in: 0..<all.count, using: &random)
    record(.reading(.markedUnread(user, from: all[index].id, ordinal: UInt64(index + 1))), in: room, by: user)
  }

  private mutating func stepScheduled(_ user: UserID, in room: RoomID, _ state: Room) {
    let time = script.last.time.adding(milliseconds: Int64(random.next() % 100_000))
    guard let id = state.scheduled.byID.keys.sorted().randomElement(using: &random), !chance(3),
      let waiting = state.scheduled[id]
    else {
      let content = MessageContent(
        text: "at \(time.milliseconds)",
        details: chance(2) ? nil : MessageDetails(mentions: Mentions(users: [user], everyone: chance(2))))
      let message = ScheduledMessage(author: user, content: content, sendAt: time)
      return record(.scheduling(.scheduled(newID(), message)), in: room, by: user)
    }
    switch random.next() % 5 {
    case 0: record(.scheduling(.cancelled(id)), in: room, by: user)
    case 1: record(.scheduling(.failed(id, .silenced)), in: room, by: user)
    case 2: record(.scheduling(.changed(id, ScheduledMessageEdit(sendAt: time))), in: room, by: user)
    case 3:
      record(
        .scheduling(.changed(id, ScheduledMessageEdit(text: "new", mentions: chance(2) ? nil : Mentions()))),
        in: room, by: user)
    default:
      messages[room, default: []].append(
        Message(id: id, author: waiting.author, leftOut: blockers(of: waiting.author, in: room)))
      record(
        .messages(.sent(id, author: waiting.author, thread: nil, .plain("due"))), in: room, by: waiting.author)
    }
  }

  private mutating func stepDeletion(in room: RoomID) {
    guard let all = messages[room], let index = all.indices.randomElement(using: &random), !all[index].isDeleted else {
      return
    }
    messages[room]?[index].isDeleted = true
    record(.messages(.deleted(all[index].id, at: .room(UInt64(index + 1)))), in: room, by: all[index].author)
  }

  private mutating func stepEdit(in room: RoomID) {
    guard let all = messages[room], let index = all.indices.randomElement(using: &random), !all[index].isDeleted else {
      return
    }
    let edit: MessageEdit? = chance(10) ? nil : .plain("edited \(random.next())")
    record(
      .messages(.edited(all[index].id, at: .room(UInt64(index + 1)), edit)), in: room, by: all[index].author)
  }

  private mutating func stepUser(_ user: UserID) {
    guard case .registered(let state) = users[user] else { return }
    let session = state.sessions.keys.sorted().randomElement(using: &random)
    let device = state.devices.keys.sorted().randomElement(using: &random)
    switch random.next() % 13 {
    case 9: stepIdentity(user, state)
    case 10: record(chance(2) ? .account(.disabled) : .account(.enabled), of: user)
    case 11:
      let isOn = chance(2)
      record(
        .account(
          .preferencesSet(
            PreferencesEdit(
              sharesReadMarkers: isOn, acceptsDirectMessages: !isOn, sharesPresence: isOn,
              notifications: isOn ? .mentions : nil, mutedKinds: isOn ? [.reaction, .added] : [],
              quietHours: Self.quietHours(isOn), showsPreviews: isOn, directRooms: isOn ? .known : nil,
              groupAdditions: isOn ? .nobody : .everyone))), of: user)
    case 12:
      if let device, let token = state.devices[device]?.description.tokens.last {
        record(.devices(chance(2) ? .tokenTaken(device, token.provider) : .tokenMoved(device, token)), of: user)
      }
    case 0: record(.account(.profileChanged(ProfileEdit(nickname: "nick \(random.next() % 1000)"))), of: user)
    case 1, 2: record(.sessions(.started(newID(), device: device)), of: user)
    case 3: if let session { record(.sessions(.ended(session, .loggedOut)), of: user) }
    case 4:
      if let session, case .open(let open) = state.sessions[session] {
        record(.sessions(.refreshed(session, generation: open.generation + 1)), of: user)
      }
    case 5: record(.devices(.registered(newID(), description())), of: user)
    case 6: if let device { record(.devices(.updated(device, description())), of: user) }
    case 7:
      if let device, let token = state.devices[device]?.description.tokens.first {
        record(.devices(.tokenInvalidated(device, token)), of: user)
      }
    default:
      if let device, chance(2) {
        record(.devices(.removed(device)), of: user)
      } else {
        record(.erased(kind: 20), of: user)
      }
    }
  }

  private mutating func stepIdentity(_ user: UserID, _ state: User) {
    nextNumber += 1
    switch random.next() % 5 {
    case 0:
      let first = state.identities.min { $0.value.position < $1.value.position }
      if let first, chance(2) {
        record(.logins(.identityUnlinked(chance(2) ? first.key : nil, linked: first.value.position)), of: user)
      } else {
        record(
          .logins(.identityLinked(Identity(issuer: "https://id\(nextNumber % 3)", subject: "s\(nextNumber)"))), of: user
        )
      }
    case 1: record(.account(.emailSet("changed\(nextNumber)@example.org")), of: user)
    case 2: record(.account(.profileChanged(ProfileEdit(picture: chance(2) ? .set(newID()) : .remove))), of: user)
    case 3:
      let credential = Credential(
        version: UInt32(nextNumber), hash: [UInt8(truncatingIfNeeded: nextNumber)], logRounds: 15, blockSize: 8,
        parallelism: 1)
      record(.logins(.credentialSet(credential)), of: user)
    default:
      script.add(.server(.signingKeyRotated(generation: UInt32(nextNumber))))
    }
  }

  private mutating func description() -> DeviceDescription {
    var tokens: [PushToken] = []
    if chance(2) { tokens.append(PushToken(provider: .apns, token: "apns-\(random.next())")) }
    if chance(2) { tokens.append(PushToken(provider: .fcm, token: "fcm-\(random.next())")) }
    if chance(2) { tokens.append(PushToken(provider: .webPush, token: "web-\(random.next())")) }
    return DeviceDescription(
      name: "phone", type: chance(2) ? "ios" : nil, osVersion: "18", tokens: tokens,
      notifications: NotificationLevel.allCases.randomElement(using: &random) ?? .all,
      apnsEnvironment: chance(2) ? .sandbox : nil, language: chance(2) ? "de" : nil, roomChanges: chance(2))
  }

  private static func quietHours(_ isOn: Bool) -> QuietHoursEdit {
    guard isOn, let from = TimeOfDay(minutes: 1320), let to = TimeOfDay(minutes: 0) else { return .remove }
    return .set(QuietHours(from: from, to: to, timeZone: "Europe/Berlin"))
  }

  // MARK: - Counting

  /// The number of unread messages of a member, counted one by one.
  func unread(_ user: UserID, in room: RoomID) -> UInt64? {
    guard let member = rooms[room]?.room?.members[user] else { return nil }
    let start = member.unreadFrom.map { min(member.marker, $0 - 1) } ?? member.marker
    let after = (messages[room] ?? []).dropFirst(Int(start))
    return UInt64(after.count { !$0.isDeleted && !$0.leftOut.contains(user) })
  }
}
