import ChatDomain
import ChatPrimitives
import Dispatch
import EventLog
import Foundation
import Synchronization
import Testing

@testable import EventStore

/// A log of records that are made here, because an erasure only looks at envelopes.
private final class ErasureHarness: Sendable {
  static let anna = UserID(UUIDBytes(high: 1, low: 1))
  static let ben = UserID(UUIDBytes(high: 1, low: 2))
  static let room = UUIDBytes(high: 2, low: 1)
  static let notes = UUIDBytes(high: 2, low: 2)
  static let deletion = UUIDBytes(high: 3, low: 1)

  let directory = TemporaryDirectory()
  let log: EmbeddedLog
  private let eraser = Mutex<RecordEraser?>(nil)
  private let rolls = DispatchSemaphore(value: 0)
  private let ends = DispatchSemaphore(value: 0)

  init(sealsInBackground: Bool = false) throws {
    let observer = SealObserver()
    var options = LogOptions(
      segmentBytes: 64 * 1024, preparesAhead: false, sealsInBackground: sealsInBackground)
    options.onSealed = { _ in observer.call() }
    log = try EmbeddedLog.open(directory: directory.path, options: options)
    let (log, rolls, ends) = (log, rolls, ends)
    let made = RecordEraser(
      log,
      roll: {
        try? log.roll()
        rolls.signal()
      }, onFinished: { ends.signal() }, onFailure: { Issue.record("\($0)") })
    eraser.withLock { $0 = made }
    observer.connect { made.segmentSealed() }
  }

  private final class SealObserver: Sendable {
    private let receiver = Mutex<(@Sendable () -> Void)?>(nil)

    func connect(_ receiver: @escaping @Sendable () -> Void) { self.receiver.withLock { $0 = receiver } }

    func call() { receiver.withLock { $0 }?() }
  }

  func ask(_ user: UserID, _ deletion: LogPosition) -> ErasureCounts? {
    eraser.withLock { $0 }?.erased(user, deleted: deletion)
  }

  func withdrawAll() { eraser.withLock { $0 }?.withdrawAll() }

  func waitForRoll() { rolls.wait() }

  func waitForEnd() { ends.wait() }

  func sealAll() throws {
    while try log.sealNext() {}
    eraser.withLock { $0 }?.segmentSealed()
  }

  func close() throws {
    eraser.withLock { $0 }?.stop()
    try log.close()
  }

  /// Appends records as one block.
  /// - Returns: the position of the last one.
  @discardableResult
  func append(_ records: [(RecordEnvelope, String)]) throws -> LogPosition {
    var block = BlockBuilder(first: log.head.next)
    for (envelope, text) in records { try block.append(envelope, payload: Array(text.utf8)) }
    try log.append(block)
    return log.head
  }

  /// Appends an event as one block.
  /// - Returns: its position.
  @discardableResult
  func append(_ event: ChatEvent, by actor: UserID?) throws -> LogPosition {
    let stamp = Stamp(position: log.head.next, time: Timestamp(milliseconds: 1_000))
    let (envelope, payload) = try EventCodec.encode(
      RecordedEvent(
        stamp: stamp, version: StreamVersion(1), actor: actor, service: nil, device: nil, command: nil,
        originalTime: nil, event: event))
    var block = BlockBuilder(first: log.head.next)
    try block.append(envelope, payload: payload)
    try log.append(block)
    return log.head
  }

  var texts: [String?] {
    get throws {
      var texts: [String?] = []
      var position = LogPosition.first
      while position <= log.head {
        let block = try log.block(containing: position)
        texts += block.records.map { $0.payload.retained.map { String(decoding: $0, as: UTF8.self) } }
        position = block.last.next
      }
      return texts
    }
  }

  /// A user's registration, message and deletion.
  @discardableResult
  func appendLife(of user: UserID, _ text: String) throws -> LogPosition {
    try append([
      (
        Self.envelope(1, .user, user.uuid, by: user),
        "\u{2a}\u{20}" + String(repeating: String(text.prefix(1)), count: 32)
      ),
      (Self.envelope(120, .room, Self.room, by: user), "joined"),
      (Self.envelope(130, .room, Self.room, by: user), text), (Self.envelope(50, .user, user.uuid, by: user), ""),
    ])
  }

  static func envelope(
    _ kind: UInt16, _ streamKind: StreamKind, _ stream: UUIDBytes, by actor: UserID?, subject: UUIDBytes? = nil,
    command: UUIDBytes? = nil
  ) -> RecordEnvelope {
    RecordEnvelope(
      kind: kind, payloadVersion: 1, streamKind: streamKind.rawValue, stream: stream, streamVersion: StreamVersion(1),
      time: Timestamp(milliseconds: 1_000), actor: actor?.uuid, subject: subject, command: command)
  }
}

@Suite("Which payloads are erased")
struct ErasureRuleTests {
  @Test("every kind outside users' streams is in one of the two lists")
  func everyKind() {
    #expect(ErasureRule.withContent.isDisjoint(with: ErasureRule.withoutContent))
    let known = ErasureRule.withContent.union(ErasureRule.withoutContent)
    for kind in EventKind.all where kind.streamKind != .user {
      #expect(known.contains(kind.number), "\(kind.name): has it content, or do rooms of others depend on it")
    }
  }

  @Test("kinds with content go, others stay, and the user's own stream goes, except for the receipt")
  func kinds() throws {
    let harness = try ErasureHarness()
    let (anna, ben) = (ErasureHarness.anna, ErasureHarness.ben)
    let deletion = try harness.appendLife(of: anna, "a")
    let rule = try ErasureRule([anna.uuid: deletion], in: harness.log)
    func erases(_ kind: String, _ streamKind: StreamKind, _ stream: UUIDBytes = ErasureHarness.room) throws -> Bool {
      let number = try #require(EventKind(name: kind)).number
      return rule.erases(ErasureHarness.envelope(number, streamKind, stream, by: anna), of: anna.uuid)
    }
    for kind in ["message.sent", "thread-message.sent", "message.edited", "reaction.added", "message.scheduled"] {
      #expect(try erases(kind, .room))
    }
    for kind in ["room.created", "room.edited", "role.changed", "member.added", "message.deleted", "read-marker.moved"]
    {
      #expect(try !erases(kind, .room))
    }
    #expect(try !erases("workspace.created", .workspace))
    for kind in ["user.registered", "profile.changed", "media.uploaded", "session.started"] {
      #expect(try erases(kind, .user, anna.uuid) && !erases(kind, .user, ben.uuid))
    }
    #expect(try erases("push-token.moved", .user, ben.uuid) && !erases("push-token.taken", .user, ben.uuid))
    #expect(!rule.erases(ErasureHarness.envelope(51, .user, anna.uuid, by: nil), of: anna.uuid))
    try harness.close()
  }

  @Test("the name of a room that was deleted with the account goes")
  func roomOfOnlyMember() throws {
    let harness = try ErasureHarness()
    let (anna, ben) = (ErasureHarness.anna, ErasureHarness.ben)
    let (notes, room) = (ErasureHarness.notes, ErasureHarness.room)
    func deleted(_ stream: UUIDBytes, by user: UserID, under command: UUIDBytes?) -> (RecordEnvelope, String) {
      (ErasureHarness.envelope(104, .room, stream, by: user, command: command), "")
    }
    for command in [nil, ErasureHarness.deletion] {
      let other = UUIDBytes(high: 2, low: 9)
      let position = try harness.append([
        deleted(room, by: ben, under: command), deleted(other, by: anna, under: UUIDBytes(high: 3, low: 2)),
        deleted(notes, by: anna, under: command),
        (ErasureHarness.envelope(50, .user, anna.uuid, by: anna, command: command), ""),
        deleted(UUIDBytes(high: 2, low: 8), by: anna, under: command),
      ])
      let rule = try ErasureRule([anna.uuid: LogPosition(position.value - 1)], in: harness.log)
      func erases(_ stream: UUIDBytes) -> Bool {
        rule.erases(ErasureHarness.envelope(100, .room, stream, by: anna), of: anna.uuid)
      }
      #expect(erases(notes) && !erases(room) && !erases(other) && !erases(UUIDBytes(high: 2, low: 8)))
    }
    try harness.close()
  }
}

@Suite("A deletion whose records are in several blocks")
struct DividedDeletionTests {
  @Test("a room that was deleted with the account is recognised")
  func divided() throws {
    let harness = try ErasureHarness()
    let (anna, notes, room) = (ErasureHarness.anna, ErasureHarness.notes, ErasureHarness.room)
    // Sealing can put them into several blocks.
    try harness.append([(ErasureHarness.envelope(104, .room, room, by: ErasureHarness.ben), "")])
    try harness.append([(ErasureHarness.envelope(104, .room, notes, by: anna), "")])
    try harness.append([(ErasureHarness.envelope(12, .user, anna.uuid, by: anna, subject: notes), "")])
    let position = try harness.append([(ErasureHarness.envelope(50, .user, anna.uuid, by: anna), "")])
    let rule = try ErasureRule([anna.uuid: position], in: harness.log)
    func erases(_ stream: UUIDBytes) -> Bool {
      rule.erases(ErasureHarness.envelope(100, .room, stream, by: anna), of: anna.uuid)
    }
    #expect(erases(notes) && !erases(room))
    #expect(!rule.erases(ErasureHarness.envelope(121, .room, notes, by: anna), of: anna.uuid))
    try harness.close()
  }

  @Test("the name of a channel stays if its workspace remains")
  func channels() throws {
    let harness = try ErasureHarness()
    let (anna, notes, office) = (ErasureHarness.anna, ErasureHarness.notes, UUIDBytes(high: 4, low: 1))
    // The field `workspace_id`.
    let payload = "\u{1a}\u{10}" + String(decoding: office.bytes, as: UTF8.self)
    try harness.append([(ErasureHarness.envelope(100, .room, notes, by: anna), payload)])
    for workspace in [nil, office] {
      let ended: [(RecordEnvelope, String)] =
        workspace.map { [(ErasureHarness.envelope(302, .workspace, $0, by: anna), "")] } ?? []
      let position = try harness.append(
        ended + [
          (ErasureHarness.envelope(104, .room, notes, by: anna), ""),
          (ErasureHarness.envelope(50, .user, anna.uuid, by: anna), ""),
        ])
      let rule = try ErasureRule([anna.uuid: position], in: harness.log)
      let creation = ErasureHarness.envelope(100, .room, notes, by: anna)
      #expect(rule.erases(creation, of: anna.uuid) == (workspace != nil))
      // Another user's record, so that the commands do not look like one.
      try harness.append([(ErasureHarness.envelope(130, .room, ErasureHarness.room, by: ErasureHarness.ben), "hi")])
    }
    try harness.close()
  }
}

@Suite("Replies of erased users")
struct ErasedRepliesTests {
  @Test("keep their place in the thread; in a deleted room, their IDs")
  func places() throws {
    let harness = try ErasureHarness(sealsInBackground: true)
    let (anna, ben) = (ErasureHarness.anna, ErasureHarness.ben)
    let (room, notes) = (RoomID(ErasureHarness.room), RoomID(ErasureHarness.notes))
    for user in [ben, anna] {
      let key = "\u{2a}\u{20}" + String(repeating: "k", count: 32)
      try harness.append([(ErasureHarness.envelope(1, .user, user.uuid, by: user), key)])
    }
    let ids = (1...4).map { MessageID(UUIDBytes(high: 5, low: $0)) }
    let thread = ThreadLocation(root: ThreadRoot(message: ids[1], ordinal: 2), rootAuthor: ben, ordinal: 1)
    for id in ids[0...1] {
      try harness.append(.room(room, .messages(.sent(id, author: ben, thread: nil, .plain("hi")))), by: ben)
    }
    for (room, id) in [(room, ids[2]), (notes, ids[3])] {
      try harness.append(.room(room, .messages(.sent(id, author: anna, thread: thread, .plain("secret")))), by: anna)
    }
    try harness.append(.room(notes, .lifecycle(.deleted)), by: anna)
    let deletion = try harness.append(.user(anna, .deletion(.deleted)), by: anna)
    try harness.append(.room(room, .messages(.deleted(ids[2], at: thread.location))), by: nil)
    #expect(harness.ask(anna, deletion) == nil)
    harness.waitForEnd()
    let sent = try StoredEvents(harness.log).events(after: LogPosition(2), limit: 100).compactMap { recorded in
      replyWithoutContent(recorded.event, by: anna)
    }
    #expect(sent.map(\.0) == [ids[2], ids[3]])
    #expect(sent.first?.1 == thread && sent.last?.1 != nil)
    try harness.close()
  }

  private func replyWithoutContent(_ event: ChatEvent, by author: UserID) -> (MessageID, ThreadLocation?)? {
    guard case .room(_, .messages(.sent(let id, author, let place, nil))) = event else { return nil }
    return (id, place)
  }
}

@Suite("Erasures that are not complete")
struct PendingErasuresTests {
  private let room = ErasureHarness.room

  private func hold(_ kind: UInt16, _ target: LegalHold.Target) -> (RecordEnvelope, String) {
    // The field `target_kind`.
    let payload = if case .user = target { "\u{8}\u{1}" } else { "\u{8}\u{2}" }
    return (ErasureHarness.envelope(kind, .server, .zero, by: nil, subject: target.id), payload)
  }

  @Test("deleted users are pending until they are erased")
  func pending() throws {
    let harness = try ErasureHarness()
    #expect(try PendingErasures(in: harness.log).users.isEmpty)
    let anna = try harness.appendLife(of: ErasureHarness.anna, "a")
    let ben = try harness.appendLife(of: ErasureHarness.ben, "b")
    #expect(try PendingErasures(in: harness.log).users == [ErasureHarness.anna: anna, ErasureHarness.ben: ben])
    try harness.append([(ErasureHarness.envelope(51, .user, ErasureHarness.anna.uuid, by: nil), "counts")])
    #expect(try PendingErasures(in: harness.log).users == [ErasureHarness.ben: ben])
    #expect(try PendingErasures.completes(in: harness.log, after: ben))
    #expect(try !PendingErasures.completes(in: harness.log, after: harness.log.head))
    try harness.close()
  }

  @Test("a hold on the user, or on a room where the user was, makes the erasure wait until it is lifted")
  func held() throws {
    let harness = try ErasureHarness()
    let (anna, ben) = (ErasureHarness.anna, ErasureHarness.ben)
    try harness.appendLife(of: anna, "a")
    let other = UUIDBytes(high: 2, low: 7)
    try harness.append([(ErasureHarness.envelope(121, .room, other, by: nil, subject: ben.uuid), "added")])
    try harness.appendLife(of: ben, "b")
    let cases: [(LegalHold.Target, [UserID])] = [
      (.user(anna), [anna]), (.room(RoomID(room)), [anna, ben]), (.room(RoomID(other)), [ben]),
      (.room(RoomID(ErasureHarness.notes)), []), (.room(RoomID(anna.uuid)), []),
    ]
    for (target, held) in cases {
      try harness.append([hold(210, target), hold(210, target)])
      let waiting = try PendingErasures(in: harness.log)
      #expect(waiting.held == Set(held) && Set(waiting.users.keys) == Set([anna, ben]).subtracting(held))
      try harness.append([hold(211, target)])
      #expect(try PendingErasures(in: harness.log).held.isEmpty)
    }
    try harness.close()
  }
}

@Suite("The eraser of a running server")
struct RecordEraserTests {
  @Test("the active segment is ended, sealed and rewritten, and the counts are returned once")
  func erases() throws {
    let harness = try ErasureHarness(sealsInBackground: true)
    let deletion = try harness.appendLife(of: ErasureHarness.anna, "hello")
    try harness.append([(ErasureHarness.envelope(130, .room, ErasureHarness.room, by: ErasureHarness.ben), "hi")])
    #expect(harness.ask(ErasureHarness.anna, deletion) == nil)
    harness.waitForEnd()
    let counts = try #require(harness.ask(ErasureHarness.anna, deletion))
    #expect(counts.erased == 2 && counts.kept == 2)
    #expect(try harness.texts == [nil, "joined", nil, "", "hi"])
    try harness.close()
    #expect(try LogVerifier(directory: harness.directory.path).run().erased == 2)
  }

  @Test("what was withdrawn is not erased, until it is asked for again")
  func withdrawal() throws {
    let harness = try ErasureHarness()
    let anna = try harness.appendLife(of: ErasureHarness.anna, "anna's")
    let ben = try harness.appendLife(of: ErasureHarness.ben, "ben's")
    #expect(harness.ask(ErasureHarness.anna, anna) == nil)
    harness.waitForRoll()
    harness.withdrawAll()
    try harness.sealAll()
    #expect(harness.ask(ErasureHarness.ben, ben) == nil)
    harness.waitForEnd()
    #expect(try harness.texts[2] == "anna's" && harness.texts[6] == nil)
    #expect(harness.ask(ErasureHarness.anna, anna) == nil)
    harness.waitForEnd()
    #expect(try harness.texts[2] == nil)
    try harness.close()
    _ = try LogVerifier(directory: harness.directory.path).run()
  }
}
