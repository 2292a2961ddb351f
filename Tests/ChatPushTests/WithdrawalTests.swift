import ChatDomain
import ChatPrimitives
import Foundation
import GRDB
import Synchronization
import Testing

@testable import ChatProjections
@testable import ChatPush

/// Waiting notifications that are no longer sent, because the message was deleted, the user has lost the right to it,
/// or the device wants fewer notifications.
@Suite struct WithdrawalTests {
  /// Anna sends messages. Ben and Carla have a device each, and push is on.
  private func company() -> Script {
    var script = Script()
    for (user, name) in [(anna, "Anna"), (ben, "Ben"), (carla, "Carla")] { script.register(user, name) }
    script.create(tea, by: anna, ben, carla)
    script.device(bensPhone, of: ben, token: "b")
    script.device(carlasPhone, of: carla, token: "c")
    script.baseline()
    return script
  }

  /// The notification that Ben's phone would get of the message at a position.
  private func found(_ script: Script, _ position: LogPosition) throws -> PushQueries.Lookup {
    try build(script.events).read { database in
      try PushQueries(database).notification(PushNotificationKey(position: position, user: ben, device: bensPhone))
    }
  }

  private func expect(
    _ expected: PushQueries.Lookup, _ script: Script, _ position: LogPosition,
    location: SourceLocation = #_sourceLocation
  ) throws {
    #expect(try found(script, position) == expected, sourceLocation: location)
  }

  private func text(_ found: PushQueries.Lookup) -> String? {
    guard case .ready(let ready) = found else { return nil }
    return ready.content.text
  }

  private func level(_ level: NotificationLevel) -> DeviceDescription {
    DeviceDescription(
      name: nil, type: nil, osVersion: nil, tokens: [PushToken(provider: .apns, token: "b")], notifications: level)
  }

  @Test("a deleted message, in a thread or not, is no longer sent; other messages are")
  func deletedMessages() throws {
    let root = ThreadRoot(message: .numbered(1), ordinal: 1)
    var script = company()
    script.room(tea, .threads(.followingSet(ben, root, follows: true)), by: ben)
    let first = script.send("first secret", to: tea, by: anna)
    let second = script.send("second stays", to: tea, by: anna)
    script.room(tea, .threads(.followingSet(ben, root, follows: true)), by: ben)
    let reply = script.room(
      tea,
      .messages(
        .sent(
          .numbered(90), author: anna, thread: ThreadLocation(root: root, rootAuthor: anna, ordinal: 1),
          .plain("reply secret"))), by: anna)
    #expect(try text(found(script, first)) == "first secret" && text(found(script, reply)) == "reply secret")
    script.room(tea, .messages(.deleted(.numbered(1), at: .room(1))), by: anna)
    script.room(
      tea, .messages(.deleted(.numbered(90), at: MessageLocation(thread: 1, ordinal: 1))), by: anna)
    #expect(try found(script, first) == .withdrawn(.deleted) && found(script, reply) == .withdrawn(.deleted))
    #expect(try text(found(script, second)) == "second stays")
    let cells = try dump(build(script.events)).values.joined().joined().compactMap { String.fromDatabaseValue($0) }
    #expect(!cells.contains { $0.contains("secret") } && cells.contains("second stays"))
  }

  @Test("a message of the same ID in another room is another message")
  func sameIDElsewhere() throws {
    var script = company()
    script.create(cake, by: anna, ben)
    let here = script.room(
      tea, .messages(.sent(.numbered(50), author: anna, thread: nil, .plain("here"))), by: anna)
    let there = script.room(
      cake, .messages(.sent(.numbered(50), author: anna, thread: nil, .plain("there"))), by: anna)
    script.room(tea, .messages(.deleted(.numbered(50), at: .room(1))), by: anna)
    #expect(try found(script, here) == .withdrawn(.deleted) && text(found(script, there)) == "there")
  }

  @Test("an edited message is sent with its new text, cut off like any other; after an erased edit it has none")
  func editedMessages() throws {
    var script = company()
    let position = script.send("of before", to: tea, by: anna)
    script.room(tea, .messages(.edited(.numbered(1), at: .room(1), .plain("of after"))), by: anna)
    #expect(try text(found(script, position)) == "of after")
    for (length, kept) in [(1023, 1023), (1024, 1024), (1025, 1024)] {
      script.room(
        tea, .messages(.edited(.numbered(1), at: .room(1), .plain(String(repeating: "x", count: length)))), by: anna)
      #expect(try text(found(script, position))?.utf8.count == kept)
    }
    script.room(tea, .messages(.edited(.numbered(1), at: .room(1), nil)), by: anna)
    #expect(try text(found(script, position)) == "")
  }

  @Test("nothing of a deleted room is sent, both before and after its rows are removed")
  func deletedRooms() throws {
    var script = company()
    script.create(cake, by: anna, ben)
    let gone = script.send("secret of the room", to: tea, by: anna)
    let kept = script.send("of another room", to: cake, by: anna)
    script.room(tea, .lifecycle(.deleted), by: anna)
    #expect(try found(script, gone) == .withdrawn(.deleted) && text(found(script, kept)) == "of another room")
    let queue = try build(script.events)
    let texts = try queue.read {
      try String.fetchAll($0, sql: "SELECT text FROM pushContent WHERE ordinal IS NOT NULL")
    }
    #expect(texts == ["of another room"])
    // The state between the transaction of the deletion and the removal of the rows.
    let uncleared = try build(script.events.dropLast())
    var projection = PushProjection()
    let last = script.events.count - 1
    try uncleared.write { (database) throws in
      _ = try ProjectionBatch.apply(
        [script.events[last]], after: LogPosition(UInt64(last)), with: &projection, to: database)
    }
    try uncleared.read { (database) throws in
      #expect(try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM pushContent WHERE ordinal IS NOT NULL") == 2)
      #expect(
        try PushQueries(database).notification(PushNotificationKey(position: gone, user: ben, device: bensPhone))
          == .withdrawn(.deleted))
    }
  }

  @Test("when a room is deleted, its rows are deleted from every table of the outbox")
  func clearsEveryTable() throws {
    let owning = try build([]).read { database in
      try String.fetchAll(
        database,
        sql: """
          SELECT DISTINCT entry.name FROM sqlite_schema AS entry, pragma_table_info(entry.name) AS part
          WHERE entry.type = 'table' AND (
            part.name IN ('roomId', 'owner') OR part.name = 'workspaceId' AND entry.name <> 'room'
            OR part.name = 'scope' AND entry.name = 'change')
          """)
    }
    // A room has one row in `roomCustom`, which is deleted with its own.
    #expect(Set(PushProjection.bulkDeletedRows.map(\.table)) == Set(owning).subtracting(["roomCustom"]))
  }

  @Test(
    "waiting notifications of former members are withdrawn, even after they rejoin",
    arguments: [RoomEvent.members(.left(ben)), .members(.removed(ben)), .members(.banned(ben))])
  func leavers(event: RoomEvent) throws {
    var script = company()
    let position = script.send(to: tea, by: anna)
    script.room(tea, event, by: anna)
    #expect(try found(script, position) == .withdrawn(.left))
    script.room(tea, .members(.unbanned(ben)), by: anna)
    script.room(tea, .members(.added(ben, role: .member)), by: anna)
    #expect(try found(script, position) == .withdrawn(.left))
    let later = script.send("later", to: tea, by: anna)
    #expect(try text(found(script, later)) == "later")
  }

  @Test("temporary reasons for a withdrawal apply while they last")
  func passingReasons() throws {
    var script = company()
    let position = script.send(to: tea, by: anna)
    script.user(ben, .account(.disabled))
    #expect(try found(script, position) == .withdrawn(.accountDisabled))
    script.user(ben, .account(.enabled))
    #expect(try text(found(script, position)) == "hello")
    script.user(ben, .blocks(.blocked(anna)))
    #expect(try found(script, position) == .withdrawn(.blocked))
    script.user(ben, .blocks(.unblocked(anna)))
    #expect(try text(found(script, position)) == "hello")
    script.room(tea, .members(.muted(ben, until: Script.time(position))), by: ben)
    #expect(try text(found(script, position)) == "hello", "a mute until the message's own time has ended")
    script.room(tea, .members(.muted(ben, until: Script.time(position.next))), by: ben)
    #expect(try found(script, position) == .withdrawn(.mutedRoom))
    script.room(tea, .members(.muted(ben, until: nil)), by: ben)
    script.user(ben, .devices(.updated(bensPhone, level(.none))))
    #expect(try found(script, position) == .withdrawn(.notificationsOff))
    script.user(ben, .devices(.updated(bensPhone, level(.mentions))))
    #expect(try found(script, position) == .withdrawn(.mentionsOnly))
    script.user(ben, .devices(.updated(bensPhone, level(.all))))
    #expect(try text(found(script, position)) == "hello")
  }

  @Test("of several changes since the event, the first in the documented order counts")
  func order() throws {
    var script = company()
    let position = script.send(to: tea, by: anna)
    // In the reverse order. Each change comes before all those that were made already.
    script.user(ben, .devices(.tokenTaken(bensPhone, .apns)))
    try expect(.unreachable, script, position)
    script.room(tea, .members(.notificationsSet(ben, .mentions)), by: ben)
    try expect(.withdrawn(.mentionsOnly), script, position)
    script.room(tea, .members(.notificationsSet(ben, NotificationLevel.none)), by: ben)
    try expect(.withdrawn(.notificationsOff), script, position)
    script.user(ben, .account(.preferencesSet(PreferencesEdit(mutedKinds: [.message]))))
    try expect(.withdrawn(.kindMuted), script, position)
    script.room(tea, .members(.muted(ben, until: Script.time(position.next))), by: ben)
    try expect(.withdrawn(.mutedRoom), script, position)
    script.room(tea, .reading(.markerMoved(ben, to: .numbered(1), ordinal: 1)), by: ben)
    try expect(.withdrawn(.alreadyRead), script, position)
    script.user(ben, .account(.disabled))
    try expect(.withdrawn(.accountDisabled), script, position)
    script.user(ben, .blocks(.blocked(anna)))
    try expect(.withdrawn(.blocked), script, position)
    script.room(tea, .members(.left(ben)), by: ben)
    try expect(.withdrawn(.left), script, position)
    script.room(tea, .messages(.deleted(.numbered(1), at: .room(1))), by: anna)
    try expect(.withdrawn(.deleted), script, position)
  }

  @Test("of several changes since a change of a room, the first in the documented order counts")
  func orderOfRoomChanges() throws {
    func phone(_ token: String?, roomChanges: Bool) -> UserEvent {
      var description = DeviceDescription.with(token)
      description.roomChanges = roomChanges
      return .devices(.updated(bensPhone, description))
    }
    var script = company()
    script.user(ben, phone("b", roomChanges: true))
    let position = script.room(tea, .lifecycle(.archived), by: anna)
    script.user(ben, phone(nil, roomChanges: true))
    try expect(.unreachable, script, position)
    script.user(ben, phone(nil, roomChanges: false))
    try expect(.withdrawn(.roomChangesOff), script, position)
    script.user(ben, .account(.disabled))
    try expect(.withdrawn(.accountDisabled), script, position)
    script.user(ben, .blocks(.blocked(anna)))
    try expect(.withdrawn(.blocked), script, position)
    script.room(tea, .members(.left(ben)), by: ben)
    try expect(.withdrawn(.left), script, position)
    script.room(tea, .lifecycle(.deleted), by: anna)
    try expect(.withdrawn(.deleted), script, position)
  }

  @Test("a device that now only wants mentions still gets those of its user or everyone, and direct messages")
  func mentions() throws {
    var script = company()
    script.room(cake, .lifecycle(.created(RoomCreation(kind: .direct, name: "", creator: anna))), by: anna)
    for user in [anna, ben] { script.room(cake, .members(.added(user, role: .member)), by: anna) }
    func said(_ number: UInt64, _ mentions: Mentions, in room: RoomID) -> LogPosition {
      script.room(
        room,
        .messages(
          .sent(
            .numbered(number), author: anna, thread: nil,
            MessageContent(text: "\(number)", details: MessageDetails(mentions: mentions)))), by: anna)
    }
    let mentions = [
      said(50, Mentions(users: [ben]), in: tea), said(51, Mentions(everyone: true), in: tea),
      said(52, Mentions(), in: cake),
    ]
    let other = said(53, Mentions(users: [carla]), in: tea)
    script.user(ben, .devices(.updated(bensPhone, level(.mentions))))
    let texts = try mentions.map { try text(found(script, $0)) }
    #expect(texts == ["50", "51", "52"])
    #expect(try found(script, other) == .withdrawn(.mentionsOnly))
  }
}

/// How the dispatcher handles withdrawn notifications, and what an explanation shows later.
@Suite(.timeLimit(.minutes(2))) struct WithdrawnNotificationTests {
  private func company() -> Script {
    var script = Script()
    for (user, name) in [(anna, "Anna"), (ben, "Ben"), (carla, "Carla")] { script.register(user, name) }
    script.create(tea, by: anna, ben, carla)
    script.device(bensPhone, of: ben, token: "b")
    script.device(carlasPhone, of: carla, token: "c")
    return script
  }

  @Test("a notification that is withdrawn between two attempts is abandoned with its reason, recorded and explained")
  func abandons() async throws {
    let (folder, log) = (TemporaryFolder(), MemoryLog(company().events))
    let sender = ScriptedSender { notification, attempt in
      guard notification.key.user == ben, notification.isAlert, notification.content.message == .numbered(1) else {
        return .delivered(response: "200")
      }
      if attempt == 1 { log.append(.room(tea, .messages(.deleted(.numbered(1), at: .room(1)))), by: anna) }
      return .failed(reason: "busy")
    }
    let before = log.send(100)
    let (first, second) = try await withPush(folder, log, sender) {
      let (first, second) = (log.send(1), log.send(2))
      try await eventually { log.outcomes.last.map { $0.settledThrough >= second } ?? false }
      return (first, second)
    }
    let bens = PushNotificationKey(position: first, user: ben, device: bensPhone)
    #expect(sender.sent.count { $0.key == bens } == 1, "it is not sent again")
    // Carla's notification may have been sent before.
    #expect(
      log.outcomes.flatMap(\.outcomes).filter { $0.user == ben && $0.result != .delivered } == [
        PushOutcome(position: first, user: ben, device: bensPhone, result: .abandoned, reason: .deleted)
      ])
    func states(_ position: LogPosition) throws -> [UserID: String] {
      try described(PushExplanation(of: position, in: log).states)
    }
    #expect(try states(first)[ben] == "abandoned deleted")
    #expect(try states(second) == [ben: "delivered", carla: "delivered"])
    #expect(try states(before) == [:], "push was not switched on")
    #expect(try states(log.send(3)) == [ben: "waiting", carla: "waiting"])
  }

  /// What happened to the notification of each user.
  private func described(_ states: [PushNotificationKey: PushExplanation.State]) -> [UserID: String] {
    Dictionary(
      uniqueKeysWithValues: states.map { key, state in
        switch state {
        case .waiting: (key.user, "waiting")
        case .settled(let outcome):
          (key.user, [outcome.result.name, outcome.reason?.name].compactMap { $0 }.joined(separator: " "))
        }
      })
  }

  /// Runs `body` with an outbox that has a message by Anna, and with a dispatcher whose attempts the test makes itself.
  /// - Parameter ageMilliseconds: how long ago the message was sent.
  private func withAttempts(
    outboxTimeoutMilliseconds: Int = PushDispatcher.outboxTimeoutMilliseconds,
    ageMilliseconds: @escaping @Sendable () -> Int64 = { 0 },
    isOpen: @escaping OpenRoomCheck = { _, _, _ in false },
    _ body: (MemoryLog, PushDispatcher, ScriptedSender, PushNotificationKey) async throws -> Void
  ) async throws {
    var script = company()
    script.baseline()
    let position = script.send(to: tea, by: anna)
    let (folder, log, sender) = (TemporaryFolder(), MemoryLog(script.events), ScriptedSender())
    let outbox = try ProjectionRunner<PushProjection>.open(
      directory: folder.path, feed: log, logIdentity: testLog, logger: testLogger)
    outbox.start()
    try await outbox.wait(for: position, timeoutMilliseconds: 120_000)
    let dispatcher = PushDispatcher(
      outbox: outbox, head: { log.head }, recorder: log, sender: sender, logIdentity: testLog, logger: testLogger,
      now: { Script.time(position).adding(milliseconds: ageMilliseconds()) }, isOpen: isOpen,
      outboxTimeoutMilliseconds: outboxTimeoutMilliseconds)
    let result: Result<Void, any Error>
    do {
      result = .success(
        try await body(log, dispatcher, sender, PushNotificationKey(position: position, user: ben, device: bensPhone)))
    } catch {
      result = .failure(error)
    }
    log.close()
    try outbox.stop()
    try result.get()
  }

  @Test("a token that has moved to another user's device is not used, even if the outbox has not applied that yet")
  func waitsForWhatIsDurable() async throws {
    let timeout = PushDispatcher.outboxTimeoutMilliseconds
    try await withAttempts(outboxTimeoutMilliseconds: timeout) { log, dispatcher, sender, key in
      log.hold()
      let token = PushToken(provider: .apns, token: "b")
      log.append(.user(ben, .devices(.tokenTaken(bensPhone, token.provider))), by: carla)
      log.append(.user(carla, .devices(.updated(carlasPhone, .with("b")))), by: carla)
      let attempt = Task { await dispatcher.attempt(key) }
      try await eventually { dispatcher.outbox.waiting == 1 }
      #expect(sender.sent.isEmpty)
      log.release()
      let result = await attempt.value.result
      #expect(result == .settled(.tokenInvalid))
      #expect(sender.sent.isEmpty)
    }
  }

  @Test("a device gets no notification of a room that it shows at the time of the attempt")
  func roomOpen() async throws {
    let shown = Mutex(true)
    let isOpen: OpenRoomCheck = { room, device, user in
      room == tea && device == bensPhone && user == ben && shown.withLock { $0 }
    }
    try await withAttempts(isOpen: isOpen) { _, dispatcher, sender, key in
      let carlas = PushNotificationKey(position: key.position, user: carla, device: carlasPhone)
      let (settled, other) = (await dispatcher.attempt(key).result, await dispatcher.attempt(carlas).result)
      #expect(settled == .settled(.abandoned, .roomOpen) && other == .settled(.delivered))
      shown.withLock { $0 = false }
      let later = await dispatcher.attempt(key).result
      #expect(later == .settled(.delivered))
      #expect(sender.sent.map(\.key) == [carlas, key])
    }
  }

  @Test("a lost token comes before the age, and the age before an open room")
  func orderOfTheLast() async throws {
    let age = Mutex(RetryPolicy.lifetimeMilliseconds)
    try await withAttempts(ageMilliseconds: { age.withLock { $0 } }, isOpen: { _, _, _ in true }) {
      log, dispatcher, sender, key in
      let open = await dispatcher.attempt(key).result
      #expect(open == .settled(.abandoned, .roomOpen))
      age.withLock { $0 += 1 }
      let late = await dispatcher.attempt(key).result
      #expect(late == .settled(.abandoned, .expired))
      log.append(.user(ben, .devices(.tokenTaken(bensPhone, .apns))), by: carla)
      let unreachable = await dispatcher.attempt(key).result
      #expect(unreachable == .settled(.tokenInvalid))
      #expect(sender.sent.isEmpty)
    }
  }

  @Test("a notification that was not sent because the room was open is recorded and explained as such")
  func roomOpenIsExplained() async throws {
    let (folder, log, sender) = (TemporaryFolder(), MemoryLog(company().events), ScriptedSender())
    let position = try await withPush(folder, log, sender, isOpen: { _, device, _ in device == bensPhone }) {
      let position = log.send(1)
      try await eventually { log.outcomes.last.map { $0.settledThrough >= position } ?? false }
      return position
    }
    let states = try described(PushExplanation(of: position, in: log).states)
    #expect(states == [ben: "abandoned room_open", carla: "delivered"])
  }

  @Test("an attempt has a time limit and is repeated")
  func postpones() async throws {
    try await withAttempts(outboxTimeoutMilliseconds: 1) { log, dispatcher, sender, key in
      log.hold()
      log.send(2)
      guard case .postponed = await dispatcher.attempt(key).result else {
        Issue.record("not postponed")
        return
      }
      #expect(sender.sent.isEmpty)
      log.release()
      try await dispatcher.outbox.wait(for: log.head, timeoutMilliseconds: 120_000)
      let result = await dispatcher.attempt(key).result
      #expect(result == .settled(.delivered))
    }
  }
}
