import ChatDomain
import ChatPrimitives
import EventLogSimulation
import Foundation
import GRDB
import Testing

@testable import ChatProjections
@testable import ChatPush

/// Builds the outbox in memory from events in batches of one size, including the removal of the rows of deleted rooms.
/// - Parameter transactions: receives the position at which each transaction ended.
func build(
  _ events: [RecordedEvent], batch: Int = 4096, rows: Int = PushProjection.rowsPerTransaction,
  transactions: (LogPosition) -> Void = { _ in }
) throws -> DatabaseQueue {
  let queue = try DatabaseQueue()
  try queue.write { database in
    try ProjectionOpening.createSchema(of: PushProjection.self, logIdentity: testLog, database)
    try PushProjection.createIndexes(database)
  }
  var projection = PushProjection(rowsPerTransaction: rows)
  var done = 0
  while done < events.count {
    let end = try queue.write { database in
      let end = try ProjectionBatch.apply(
        Array(events[done..<min(events.count, done + batch)]), after: LogPosition(UInt64(done)), with: &projection,
        to: database)
      while try BulkDeletion.step(PushProjection.bulkDeletedRows, database) {}
      return end
    }
    transactions(end)
    done = Int(end.value)
  }
  return queue
}

/// All rows of all tables, ordered by all columns.
func dump(_ queue: DatabaseQueue) throws -> [String: [[DatabaseValue]]] {
  try queue.read { database in
    let names = try String.fetchAll(
      database, sql: "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
    var tables: [String: [[DatabaseValue]]] = [:]
    for name in names {
      let columns = try database.columns(in: name).map(\.name).joined(separator: ", ")
      tables[name] = try Row.fetchAll(database, sql: "SELECT * FROM \(name) ORDER BY \(columns)")
        .map { Array($0.databaseValues) }
    }
    return tables
  }
}

private struct Pending: Hashable {
  let position: LogPosition
  let device: DeviceID
}

/// The waiting notifications that show something.
private func pending(_ queue: DatabaseQueue) throws -> [Pending] {
  try queue.read { database in
    let outbox = PushQueries(database)
    return try outbox.pending(after: .origin, limit: 10_000).compactMap { pending in
      let key = pending.key
      guard case .ready(let ready) = try outbox.notification(key) else {
        return Pending(position: key.position, device: key.device)
      }
      guard ready.delivery.kind.alert != nil else { return nil }
      return Pending(position: key.position, device: key.device)
    }
  }
}

/// The same, whether or not they may still be sent.
private func decided(_ queue: DatabaseQueue) throws -> [Pending] {
  try queue.read { database in
    try CachedStatement(database, "SELECT position, deviceId FROM outbox WHERE kind < \(PushKind.firstSilent)")
      .all { row in Pending(position: try row.position(), device: try row.id()) }
  }
}

/// The badges of a user's notifications in the order of their events, as of the end of the log.
private func badges(of user: UserID, _ queue: DatabaseQueue, at now: Timestamp) throws -> [UInt64] {
  try queue.read { database in
    let outbox = PushQueries(database)
    return try outbox.pending(after: .origin, limit: 10_000).map(\.key).filter { $0.user == user }.compactMap { key in
      guard case .ready(let ready) = try outbox.notification(key, at: now) else { return nil }
      return ready.badge
    }
  }
}

/// Anna, Ben with two devices, and Carla with one, all in a room.
private func company() -> Script {
  var script = Script()
  for (user, name) in [(anna, "Anna"), (ben, "Ben"), (carla, "Carla")] { script.register(user, name) }
  script.device(annasPhone, of: anna, token: "a")
  script.create(tea, by: anna, ben, carla)
  script.device(bensPhone, of: ben, token: "b")
  script.device(bensTablet, of: ben, token: "b2")
  script.device(carlasPhone, of: carla, token: "c")
  return script
}

@Suite struct OutboxTests {
  @Test("the outbox keeps no reports")
  func reports() throws {
    var script = Script()
    let (room, reporter): (RoomID, UserID) = (.numbered(9), .numbered(1))
    script.create(room, by: reporter)
    let report = Report(subject: .user(.numbered(2)), reason: .spam, comment: "ads")
    script.room(room, .reports(.filed(.numbered(5), reporter: reporter, report)), by: reporter)
    script.room(room, .reports(.reopened(.numbered(5), reporter: reporter)), by: reporter)
    #expect(try dump(build(script.events))["report"] == [])
  }

  @Test("a message adds a row for each device of each other member")
  func rowsOfMessage() throws {
    var script = company()
    script.baseline()
    let first = script.send(to: tea, by: anna)
    let second = script.send(to: tea, by: anna)
    script.room(tea, .reading(.markerMoved(ben, to: .numbered(2), ordinal: 2)), by: ben)
    let third = script.send(to: tea, by: carla)
    #expect(
      Set(try decided(build(script.events))) == [
        Pending(position: first, device: bensPhone), Pending(position: first, device: bensTablet),
        Pending(position: first, device: carlasPhone),
        Pending(position: second, device: bensPhone), Pending(position: second, device: bensTablet),
        Pending(position: second, device: carlasPhone),
        Pending(position: third, device: annasPhone), Pending(position: third, device: bensPhone),
        Pending(position: third, device: bensTablet),
      ])
  }

  @Test("a notification has the message, its sender's name and the room's name at that time")
  func notifications() throws {
    var script = company()
    script.baseline()
    let position = script.send("The kettle is on.", to: tea, by: anna)
    script.user(anna, .account(.profileChanged(ProfileEdit(nickname: "Anne"))))
    script.room(tea, .lifecycle(.edited(RoomEdit(name: "coffee"))))
    let found = try build(script.events).read { database in
      try PushQueries(database).notification(PushNotificationKey(position: position, user: ben, device: bensPhone))
    }
    var content = PushContent(
      time: Script.time(position), room: tea, message: .numbered(1), sender: anna, spaceName: "tea",
      senderNickname: "Anna", text: "The kettle is on.")
    content.location = .room(1)
    #expect(
      found
        == .ready(
          PushQueries.Ready(
            token: PushToken(provider: .apns, token: "b"), content: content,
            delivery: FanOut.Delivery(kind: .message), badge: 1)))
  }

  @Test("no notification is added before push was switched on")
  func beforeBaseline() throws {
    var script = company()
    script.send(to: tea, by: anna)
    #expect(try pending(build(script.events)).isEmpty)
    script.baseline()
    let position = script.send(to: tea, by: carla)
    #expect(Set(try pending(build(script.events)).map(\.position)) == [position])
  }

  @Test("imports, mutes, former members, devices without tokens and later joins add no row")
  func silence() throws {
    var script = company()
    script.baseline()
    script.send(to: tea, by: anna, originalTime: Timestamp(milliseconds: 5))
    script.room(tea, .members(.muted(ben, until: Script.time(LogPosition(10_000)))), by: ben)
    script.room(tea, .members(.left(carla)), by: carla)
    script.user(anna, .devices(.updated(annasPhone, .with(nil))))
    script.register(.numbered(4), "Dora")
    script.device(.numbered(41), of: .numbered(4), token: "d")
    script.send(to: tea, by: anna)
    script.send(to: tea, by: ben)
    let added = script.room(tea, .members(.added(.numbered(4), role: .member)), by: anna)
    let heard = script.send(to: tea, by: anna)
    // The room has four messages, but only one since Dora joined.
    #expect(
      try pending(build(script.events)).filter { $0.position > added } == [
        Pending(position: heard, device: .numbered(41))
      ])
    #expect(try Set(badges(of: .numbered(4), build(script.events), at: Script.time(heard))) == [1])
    #expect(try pending(build(script.events)).filter { $0.position < added } == [])
  }

  @Test("a notification has the current badge: the user may have read something since, even on the same device")
  func currentBadge() throws {
    var script = company()
    script.create(cake, by: anna, ben)
    script.baseline()
    script.send(to: cake, by: anna)
    let position = script.send(to: tea, by: anna)
    #expect(try Set(badges(of: ben, build(script.events), at: Script.time(position))) == [2])
    script.room(cake, .reading(.markerMoved(ben, to: .numbered(1), ordinal: 1)), by: ben)
    #expect(try Set(badges(of: ben, build(script.events), at: Script.time(position))) == [1])
  }

  @Test("a mute that ended before the message has no effect, and the other rooms count in the badge")
  func badgeOverRooms() throws {
    var script = company()
    script.create(cake, by: anna, ben)
    script.baseline()
    script.send(to: cake, by: anna)
    let time = Script.time(LogPosition(UInt64(script.events.count + 2)))
    script.room(tea, .members(.muted(ben, until: time)), by: ben)
    let position = script.send(to: tea, by: carla)
    #expect(try pending(build(script.events)).last { $0.device == bensPhone }?.position == position)
    #expect(try Set(badges(of: ben, build(script.events), at: Script.time(position))) == [2])
  }

  @Test("a device that is added after joins is notified of all of its user's rooms, a removed one of none")
  func devicesComeAndGo() throws {
    var script = Script()
    for (user, name) in [(anna, "Anna"), (ben, "Ben")] { script.register(user, name) }
    script.baseline()
    script.create(tea, by: anna, ben)
    script.send(to: tea, by: anna)
    script.device(bensPhone, of: ben, token: "b")
    let heard = script.send(to: tea, by: anna)
    script.device(bensTablet, of: ben, token: "b2")
    script.user(ben, .devices(.removed(bensPhone)))
    let both = script.send(to: tea, by: anna)
    script.user(ben, .devices(.removed(bensTablet)))
    script.send(to: tea, by: anna)
    let queue = try build(script.events)
    let keys = try queue.read { try PushQueries($0).pending(after: .origin, limit: 10).map(\.key) }
    #expect(keys.map(\.position) == [heard, both] && keys.map(\.device) == [bensPhone, bensTablet])
    let found = try queue.read { database in try keys.map { try PushQueries(database).notification($0) } }
    #expect(found == [.unreachable, .unreachable], "a removed device gets no notifications")
  }

  @Test("an alert in quiet hours waits with the silent notifications, not with the other alerts")
  func quietHours() throws {
    var script = company()
    script.baseline()
    let (first, second) = (script.send(to: tea, by: anna), script.send(to: tea, by: anna))
    let queue = try build(script.events)
    try queue.write { try $0.execute(sql: "UPDATE outbox SET isQuiet = 1 WHERE position = ?", arguments: [first.value]) }
    let (rows, alerts) = try queue.read { database in
      (
        try PushQueries(database).pending(after: .origin, limit: 100).filter { $0.key.device == bensPhone },
        try PushQueries(database).alerts(of: bensPhone, of: ben, after: .origin, of: nil, limit: 100)
      )
    }
    let group = SilentGroup(.message, isQuiet: true, room: tea, thread: nil, message: nil, clears: false)
    #expect(group != nil && rows.map(\.key.position) == [first, second] && rows.map(\.group) == [group, nil])
    #expect(alerts.map(\.position) == [second])
  }

  @Test("two users may give their devices the same ID")
  func sharedDeviceID() throws {
    var script = company()
    script.device(bensPhone, of: carla, token: "c2")
    script.baseline()
    let position = script.send(to: tea, by: anna)
    var queue = try build(script.events)
    var users = try queue.read { try PushQueries($0).pending(after: .origin, limit: 10) }
      .map(\.key).filter { $0.device == bensPhone }.map(\.user)
    #expect(users == [ben, carla])
    script.recordOutcomes(
      through: LogPosition(position.value - 1),
      [PushOutcome(position: position, user: carla, device: bensPhone, result: .delivered)])
    queue = try build(script.events)
    users = try queue.read { try PushQueries($0).pending(after: .origin, limit: 10) }
      .map(\.key).filter { $0.device == bensPhone }.map(\.user)
    #expect(users == [ben])
  }

  @Test("outcomes remove the rows that they name and all rows up to the settled position")
  func settles() throws {
    var script = company()
    script.baseline()
    let first = script.send(to: tea, by: anna)
    let second = script.send(to: tea, by: anna)
    let third = script.send(to: tea, by: anna)
    script.recordOutcomes(
      through: first,
      [
        PushOutcome(position: second, user: ben, device: bensPhone, result: .delivered),
        PushOutcome(position: third, user: carla, device: carlasPhone, result: .abandoned),
      ])
    let rows = try pending(build(script.events))
    #expect(
      Set(rows) == [
        Pending(position: second, device: bensTablet),
        Pending(position: second, device: carlasPhone),
        Pending(position: third, device: bensPhone), Pending(position: third, device: bensTablet),
      ])
    script.recordOutcomes(through: third)
    let queue = try build(script.events)
    #expect(try pending(queue).isEmpty)
    #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM pushContent") } == 0)
    #expect(try queue.read { try PushQueries($0).settledThrough() } == third)
  }

  @Test("a replaced token is not used, and an invalid one is not used again")
  func tokens() throws {
    var script = company()
    script.baseline()
    let position = script.send(to: tea, by: anna)
    let key = PushNotificationKey(position: position, user: ben, device: bensPhone)
    func token() throws -> String? {
      let found = try build(script.events).read { try PushQueries($0).notification(key) }
      guard case .ready(let ready) = found else { return nil }
      return ready.token.token
    }
    #expect(try token() == "b")
    script.user(ben, .devices(.updated(bensPhone, .with("newer"))))
    #expect(try token() == "newer")
    script.user(ben, .devices(.tokenInvalidated(bensPhone, PushToken(provider: .apns, token: "b"))))
    #expect(try token() == "newer", "an invalid old token does not affect the new one")
    script.user(ben, .devices(.tokenTaken(bensPhone, .fcm)))
    #expect(try token() == "newer", "the device keeps its tokens of other providers")
    script.user(ben, .devices(.tokenInvalidated(bensPhone, PushToken(provider: .apns, token: "newer"))))
    #expect(try token() == nil)
    script.user(ben, .devices(.updated(bensPhone, .with("newest"))))
    #expect(try token() == "newest")
    script.user(ben, .devices(.tokenTaken(bensPhone, .apns)))
    #expect(try token() == nil)
  }

  @Test("the rows do not depend on where a batch ends", arguments: [1, 2, 7, 64])
  func batches(size: Int) throws {
    let events = randomHistory(seed: 7, count: 1500)
    #expect(try !pending(build(events)).isEmpty)
    #expect(try dump(build(events, batch: size)) == dump(build(events)))
    #expect(try dump(build(events, rows: size)) == dump(build(events)))
  }

  @Test("a transaction ends with the message that reaches the limit of rows")
  func boundedTransactions() throws {
    var script = company()
    script.baseline()
    // Each message notifies four devices: three with an alert, and the sender's silently.
    let sent = (1...4).map { _ in script.send(to: tea, by: anna) }
    let last = script.room(tea, .lifecycle(.edited(RoomEdit(name: "coffee"))))
    func ends(_ rows: Int) throws -> [LogPosition] {
      var ends: [LogPosition] = []
      _ = try build(script.events, rows: rows) { ends.append($0) }
      return ends
    }
    #expect(try ends(5) == [sent[1], sent[3], last])
    #expect(try ends(8) == [sent[1], sent[3], last])
    #expect(try ends(9) == [sent[2], last])
    #expect(try ends(1) == sent + [last])
    #expect(try ends(PushProjection.rowsPerTransaction) == [last])
  }

  /// A random history of all events that matter to push.
  private func randomHistory(seed: UInt64, count: Int) -> [RecordedEvent] {
    var random = SeededRandom(seed: seed)
    var script = company()
    script.create(cake, by: carla, ben)
    script.baseline()
    let people = [(anna, annasPhone), (ben, bensPhone), (ben, bensTablet), (carla, carlasPhone)]
    while script.events.count < count {
      let (user, device) = people[Int.random(in: 0..<people.count, using: &random)]
      let room = Bool.random(using: &random) ? tea : cake
      let last = UInt64(script.events.count)
      switch Int.random(in: 0..<20, using: &random) {
      case 0: script.room(room, .members(.left(user)), by: user)
      case 1, 2: script.room(room, .members(.joined(user, role: .member, invite: nil)), by: user)
      case 3: script.user(user, .devices(.removed(device)))
      case 4, 5: script.device(device, of: user, token: Bool.random(using: &random) ? "t\(last)" : nil)
      case 6: script.room(room, .members(.muted(user, until: Script.time(LogPosition(last + 20)))), by: user)
      case 7: script.send(to: room, by: user, originalTime: Timestamp(milliseconds: 1))
      case 8: script.recordOutcomes(through: LogPosition(last - min(last, UInt64.random(in: 5...60, using: &random))))
      case 9: script.room(room, .reading(.markerMoved(user, to: .numbered(1), ordinal: last / 4)), by: user)
      case 10: script.room(room, .messages(.deleted(script.recent(random.next()), at: .room(last / 5))), by: user)
      case 11:
        script.room(room, .messages(.edited(script.recent(random.next()), at: .room(1), .plain("e\(last)"))), by: user)
      case 12: script.user(user, Bool.random(using: &random) ? .account(.disabled) : .account(.enabled))
      default: script.send(to: room, by: user)
      }
    }
    return script.events
  }

  @Test("a device with several tokens is notified through the first provider, and the outbox has its description")
  func devices() throws {
    let tokens = PushProvider.allCases.map { PushToken(provider: $0, token: $0.name) }
    var script = Script()
    script.register(ben, "Ben")
    for (device, tokens) in [(bensPhone, tokens), (bensTablet, [tokens[2], tokens[1]]), (carlasPhone, [tokens[2]])] {
      let description = DeviceDescription(
        name: nil, type: nil, osVersion: nil, tokens: tokens, notifications: .mentions, apnsEnvironment: .sandbox,
        language: "de", roomChanges: true)
      script.user(ben, .devices(.registered(device, description)))
    }
    func found(_ script: Script) throws -> [DeviceID: FanOut.Device] {
      let queue = try DatabaseQueue()
      return try queue.write { (database) throws in
        try PushProjection.createTables(database)
        try PushProjection.createIndexes(database)
        var projection = PushProjection()
        try projection.apply(script.events[...], to: database)
        let event = PushEvent(
          position: LogPosition(100), time: Script.time(LogPosition(100)), actor: nil,
          change: .invitation(.numbered(7), ben))
        let devices = try RecipientQueries(database).recipient(ben, of: event).devices
        return Dictionary(uniqueKeysWithValues: devices.map { ($0.id, $0) })
      }
    }
    func device(_ id: DeviceID, _ token: PushToken) -> FanOut.Device {
      FanOut.Device(
        id: id, token: token, level: .mentions, apnsEnvironment: .sandbox, language: "de", roomChanges: true)
    }
    #expect(
      try found(script) == [
        bensPhone: device(bensPhone, tokens[0]), bensTablet: device(bensTablet, tokens[1]),
        carlasPhone: device(carlasPhone, tokens[2]),
      ])
    script.user(ben, .devices(.tokenInvalidated(carlasPhone, tokens[2])))
    script.user(ben, .devices(.tokenInvalidated(bensPhone, tokens[0])))
    #expect(try found(script)[carlasPhone]?.token == nil)
    #expect(try found(script)[bensPhone]?.token == tokens[1])
    script.user(ben, .devices(.updated(bensPhone, .with(nil))))
    #expect(try found(script)[bensPhone] == FanOut.Device(id: bensPhone, token: nil))
  }

  @Test("levels, threads, direct rooms and disabled users decide who is notified, and can be explained afterwards")
  func reasons() throws {
    let root = ThreadRoot(message: .numbered(1), ordinal: 1)
    var script = Script()
    for (user, name) in [(anna, "Anna"), (ben, "Ben"), (carla, "Carla")] { script.register(user, name) }
    script.user(ben, .devices(.registered(bensPhone, .with("b"))))
    script.user(
      carla,
      .devices(
        .registered(
          carlasPhone,
          DeviceDescription(
            name: nil, type: nil, osVersion: nil, tokens: [PushToken(provider: .apns, token: "c")],
            notifications: .mentions))))
    script.create(tea, by: anna, ben, carla)
    script.baseline()
    let plain = script.send(to: tea, by: anna)
    let mentions = script.room(
      tea,
      .messages(
        .sent(
          .numbered(90), author: anna, thread: nil,
          MessageContent(text: "x", details: MessageDetails(mentions: Mentions(users: [carla]))))), by: anna)
    let threaded = script.room(
      tea,
      .messages(
        .sent(
          .numbered(91), author: anna, thread: ThreadLocation(root: root, rootAuthor: anna, ordinal: 1), .plain("y"))),
      by: anna)
    script.room(tea, .threads(.followingSet(ben, root, follows: true)), by: ben)
    let followed = script.room(
      tea,
      .messages(
        .sent(
          .numbered(92), author: anna, thread: ThreadLocation(root: root, rootAuthor: anna, ordinal: 2), .plain("z"))),
      by: anna)
    script.user(ben, .account(.disabled))
    let disabled = script.send(to: tea, by: anna)
    script.user(ben, .account(.enabled))
    let enabled = script.send(to: tea, by: anna)
    script.user(ben, .blocks(.blocked(anna)))
    let blocked = script.send(to: tea, by: anna)
    let other = script.send(to: tea, by: carla)
    script.user(ben, .blocks(.unblocked(anna)))
    let unblocked = script.send(to: tea, by: anna)
    let rows = try pending(build(script.events)).map { [$0.position.value, $0.device == bensPhone ? 1 : 2] }
    #expect(
      rows == [
        [plain.value, 1], [mentions.value, 1], [mentions.value, 2], [followed.value, 1], [enabled.value, 1],
        [other.value, 1], [unblocked.value, 1],
      ])
    for (position, badge): (LogPosition, UInt64) in [(unblocked, 6), (other, 5)] {
      let explanation = try PushExplanation(of: position, in: MemoryLog(script.events))
      #expect(explanation.badges[ben] == badge, "the message of the blocked user is in no badge")
    }
    func reason(_ position: LogPosition, _ device: DeviceID) throws -> FanOut.Decision? {
      try PushExplanation(of: position, in: MemoryLog(script.events)).decisions.first { $0.device == device }?.decision
    }
    #expect(try reason(plain, carlasPhone) == .skip(.mentionsOnly))
    #expect(try reason(threaded, bensPhone) == .skip(.notFollowing))
    #expect(try reason(disabled, bensPhone) == .skip(.accountDisabled))
    #expect(try reason(blocked, bensPhone) == .skip(.blocked))
    let queue = try build(script.events)
    try queue.read { database in
      let key = PushNotificationKey(position: followed, user: ben, device: bensPhone)
      guard case .ready(let ready) = try PushQueries(database).notification(key) else {
        Issue.record("no notification")
        return
      }
      #expect(ready.content.thread == .numbered(1) && ready.delivery.kind == .reply)
    }
    for batch in [1, 3] { #expect(try dump(build(script.events, batch: batch)) == dump(queue)) }
  }
}
