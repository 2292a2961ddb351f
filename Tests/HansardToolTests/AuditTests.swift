import ChatDomain
import ChatPrimitives
import EventStore
import Foundation
import Testing

@testable import EventLog
@testable import hansard

@Suite("The audit")
struct AuditTests {
  private static let secret = "SECRET"
  private static let secretBytes = [UInt8](repeating: 0x5e, count: 32)
  private static let token = PushToken(provider: .apns, token: secret)
  private static let user = UserID(UUIDBytes(high: 1, low: 1))
  private static let other = UserID(UUIDBytes(high: 1, low: 2))
  private static let room = RoomID(UUIDBytes(high: 2, low: 1))
  private static let device = DeviceID(UUIDBytes(high: 3, low: 1))
  private static let session = SessionID(UUIDBytes(high: 4, low: 1))
  private static let message = MessageID(UUIDBytes(high: 5, low: 1))
  private static let report = ReportID(UUIDBytes(high: 9, low: 1))
  private static let invite = InviteID(UUIDBytes(high: 6, low: 1))
  private static let workspace = WorkspaceID(UUIDBytes(high: 7, low: 1))
  private static let picture = MediaID(UUIDBytes(high: 8, low: 1))
  private static let photo = Media(hash: [1, 2], contentType: "image/png", size: 9, width: 3, height: 3)
  private static let scheduled = ScheduledMessage(
    author: user, content: .plain("later"), sendAt: Timestamp(milliseconds: 9))

  private static var events: [ChatEvent] {
    let described = DeviceDescription(name: "phone", type: "ios", osVersion: "26", tokens: [token])
    let registration = Registration(
      nickname: "Anna", email: "\(secret)@example.org", externalID: "a-1",
      credential: credential, commitmentKey: secretBytes)
    let users: [UserEvent] = [
      .account(.registered(registration)), .account(.profileChanged(ProfileEdit(nickname: "Ann"))),
      .sessions(.started(session, device: device)),
      .sessions(.refreshed(session, generation: 2)), .sessions(.ended(session, .refreshTokenReused)),
      .devices(.registered(device, described)), .devices(.updated(device, described)),
      .devices(.tokenInvalidated(device, token)),
      .devices(.removed(device)),
    ]
    let rooms: [RoomEvent] = [
      .lifecycle(.created(RoomCreation(kind: .group, name: "tea", creator: user))),
      .lifecycle(.edited(RoomEdit(name: "cake"))), .lifecycle(.archived),
      .sharing(
        .inviteCreated(
          Invite(
            id: invite, tokenHash: secretBytes, role: .member, expiresAt: Timestamp(milliseconds: 5), maximumUses: 3))),
      .sharing(.inviteRevoked(invite)), .members(.joined(user, role: .owner, invite: invite)),
      .members(.added(other, role: .member)),
      .members(.admissionRepeated(user, .member)), .members(.left(user)), .members(.removed(other)),
      .members(.muted(user, until: Timestamp(milliseconds: 9))),
      .messages(.sent(message, author: user, thread: nil, .plain("hello, \"world\"\r\n"))),
      .messages(.edited(message, at: .room(1), .plain("bye"))), .messages(.deleted(message, at: .room(1))),
      .reading(.markerMoved(user, to: message, ordinal: 1)),
    ]
    let outcomes = PushOutcomes(
      settledThrough: LogPosition(3),
      outcomes: [PushOutcome(position: LogPosition(4), user: user, device: device, result: .tokenInvalid)])
    return users.map { .user(user, $0) } + rooms.map { .room(room, $0) } + [.server(.pushOutcomesRecorded(outcomes))]
  }

  private static let credential = Credential(
    version: 1, hash: secretBytes, logRounds: 14, blockSize: 8, parallelism: 1)

  /// At least one event of each kind.
  private static var everyEvent: [ChatEvent] {
    let users: [UserEvent] = [
      .logins(.credentialSet(credential)), .logins(.identityLinked(Identity(issuer: "i", subject: secret))),
      .logins(.identityUnlinked(Identity(issuer: "i", subject: secret), linked: LogPosition(7))),
      .account(.emailSet("\(secret)@example.org")), .account(.disabled), .account(.enabled),
      .account(.preferencesSet(PreferencesEdit(sharesReadMarkers: true))),
      .devices(.tokenTaken(device, .fcm)), .devices(.tokenMoved(device, token)),
      .media(.uploaded(picture, photo, name: nil)),
      .blocks(.blocked(other)), .blocks(.unblocked(other)),
    ]
    return events + users.map { .user(user, $0) } + laterRoomEvents.map { .room(room, $0) }
      + workspaceEvents.map { .workspace(workspace, $0) } + [.server(.signingKeyRotated(generation: 2))]
      + deletionEvents
  }

  private static let deletionEvents: [ChatEvent] = [
    .user(user, .deletion(.deleted)),
    .user(user, .deletion(.erased(Erasure(deletion: LogPosition(1), erasedRecords: 2, keptRecords: 1)))),
    .server(.legalHoldPlaced(LegalHold(.user(user), reason: "case 7"))), .server(.legalHoldLifted(.on(.user(user)))),
  ]

  private static let laterRoomEvents: [RoomEvent] = [
    .lifecycle(.edited(RoomEdit(topic: "cake", picture: .set(picture)))), .lifecycle(.restored), .lifecycle(.deleted),
    .members(.roleChanged(user, .owner)), .members(.notificationsSet(user, .mentions)),
    .members(.hidden(user)), .members(.shown(user)),
    .members(.banned(other)), .members(.unbanned(other)), .members(.silenced(other, until: nil)),
    .messages(
      .sent(
        message, author: user,
        thread: ThreadLocation(root: ThreadRoot(message: message, ordinal: 1), rootAuthor: user, ordinal: 1),
        .plain("in a thread"))),
    .annotations(.reactionAdded(message, at: .room(1), by: user, emoji: "👍")),
    .annotations(.reactionRemoved(message, at: .room(1), by: user, emoji: "👍")),
    .annotations(.pinned(message, at: .room(1))),
    .annotations(.unpinned(message, at: .room(1))), .reading(.markedUnread(user, from: message, ordinal: 1)),
    .threads(.markerMoved(user, to: message, at: MessageLocation(thread: 1, ordinal: 1))),
    .threads(.followingSet(user, ThreadRoot(message: message, ordinal: 1), follows: false)),
    .scheduling(.scheduled(message, scheduled)),
    .scheduling(.changed(message, ScheduledMessageEdit(text: "later", sendAt: scheduled.sendAt))),
    .scheduling(.cancelled(message)), .scheduling(.failed(message, .silenced)),
    .reports(.filed(report, reporter: user, Report(subject: .user(other), reason: .spam, comment: "ads"))),
    .reports(.resolved(report, ReportResolution(outcome: .userWarned, note: "warned"))),
    .reports(.reopened(report, reporter: user)),
  ]

  private static let workspaceEvents: [WorkspaceEvent] = [
    .lifecycle(.created(WorkspaceCreation(name: "guild", creator: user))),
    .lifecycle(.edited(WorkspaceEdit(name: "tea"))), .lifecycle(.deleted),
    .sharing(
      .inviteCreated(
        WorkspaceInvite(
          id: invite, tokenHash: secretBytes, role: .member, expiresAt: Timestamp(milliseconds: 5), maximumUses: nil))),
    .sharing(.inviteRevoked(invite)), .members(.joined(user, role: .owner, by: .service)), .members(.left(other)),
    .members(.removed(other)),
    .members(.admissionRepeated(user, .link(invite))), .invitations(.invited(other, role: .guest)),
    .members(.roleChanged(other, .member)),
    .invitations(.withdrawn(other)),
  ]

  /// Records of the events, two per second and seven per block.
  private func log(_ events: [ChatEvent] = events) throws -> MemoryBlocks {
    var records: [LogRecord] = []
    for (index, event) in events.enumerated() {
      let stamp = Stamp(
        position: LogPosition(UInt64(index) + 1), time: Timestamp(milliseconds: Int64(index / 2) * 1_000))
      let recorded = RecordedEvent(
        stamp: stamp, version: StreamVersion(UInt64(index) + 1), actor: Self.user, service: nil, device: nil,
        command: nil, originalTime: nil, event: event)
      let (envelope, payload) = try EventCodec.encode(recorded)
      records.append(LogRecord(position: stamp.position, envelope: envelope, payload: .retained(payload)))
    }
    return MemoryBlocks(records, blockRecords: 7)
  }

  private func rows(_ filter: AuditFilter, in log: MemoryBlocks) throws -> [AuditRow] {
    var rows: [AuditRow] = []
    try AuditScan(source: log, filter: filter).forEach { rows.append($0) }
    return rows
  }

  @Test("every kind is shown, and no secret of any")
  func secrets() throws {
    let log = try log(Self.everyEvent)
    let rows = try rows(AuditFilter(), in: log)
    #expect(Set(rows.map(\.type)) == Set(EventKind.all.map(\.name)))
    for row in rows {
      let shown = JSONValue.object(row.fields).encoded
      for secret in [Self.secret, "5e5e", "94,94", "Xl5e", "^^^^", "example.org"] { #expect(!shown.contains(secret)) }
    }
    for record in log.records {
      let block = try log.block(containing: record.position)
      #expect(!JSONValue.object(RecordView(record, in: block).fields).encoded.contains(Self.secret))
      // The creator of the proof may have included any payload.
      let proven = RecordView(try proof(of: record, showsPayload: true))
      #expect(!JSONValue.object(proven.fields).encoded.contains(Self.secret))
    }
  }

  private func proof(of record: LogRecord, showsPayload: Bool) throws -> InclusionProof {
    InclusionProof(
      record: try ProvenRecord(record, author: .none, showsPayload: showsPayload), position: record.position, path: [],
      checkpoint: SignedNote(text: [], signatures: []))
  }

  @Test("of a proven record as much is shown as of one in the log, but for where it is stored")
  func proven() throws {
    let log = try log(Self.everyEvent)
    let storage: Set = ["payload", "payloadBytes", "rawBytes", "segment", "blockOffset"]
    for record in log.records {
      let stored = RecordView(record, in: try log.block(containing: record.position)).fields
      let expected = stored.filter { !storage.contains($0.0) }
      let shown = RecordView(try proof(of: record, showsPayload: true)).fields.filter { !storage.contains($0.0) }
      let hidden = RecordView(try proof(of: record, showsPayload: false)).fields.filter { !storage.contains($0.0) }
      if !record.isRegistration { #expect(JSONValue.object(shown).encoded == JSONValue.object(expected).encoded) }
      let envelope = JSONValue.object(Array(expected.dropLast())).encoded
      #expect(JSONValue.object(Array(hidden.dropLast())).encoded == envelope)
      #expect(hidden.last?.1.encoded.hasPrefix(#""not shown"#) == true)
    }
  }

  @Test("an erased payload is shown as such")
  func erased() throws {
    let records = try log(Self.everyEvent).records.map { record in
      LogRecord(
        position: record.position, envelope: record.envelope,
        payload: .erased(digest: [UInt8](repeating: 1, count: LogFormat.digestBytes)))
    }
    // The envelope of these events contains everything.
    let withoutPayload = Set(
      records.filter { record in Self.everyEvent[Int(record.position.value) - 1].hasNoPayload }.map {
        EventKind(number: $0.envelope.kind)?.name ?? ""
      })
    // Never erased: the first records of lifted holds had no payload, so one without is read as one of those.
    let lifted = "legal-hold.lifted"
    for row in try rows(AuditFilter(), in: MemoryBlocks(records, blockRecords: 4)) where row.type != lifted {
      let expected = withoutPayload.contains(row.type) ? "{}" : #"{"erased":true}"#
      #expect(JSONValue.object(row.detail).encoded == expected)
    }
  }

  @Test("times are found without reading what lies before them, both ends included", arguments: -1...13)
  func times(second: Int) throws {
    let log = try log()
    let time = Timestamp(milliseconds: Int64(second) * 1_000)
    let all = log.records
    #expect(
      try rows(AuditFilter(since: time), in: log).map(\.position)
        == all.filter { $0.envelope.time >= time }.map(\.position))
    #expect(
      try rows(AuditFilter(until: time), in: log).map(\.position)
        == all.filter { $0.envelope.time <= time }.map(\.position))
  }

  @Test("positions, both ends included")
  func positions() throws {
    let found = try rows(AuditFilter(first: LogPosition(6), last: LogPosition(9)), in: try log())
    #expect(found.map(\.position.value) == [6, 7, 8, 9])
    #expect(try rows(AuditFilter(first: LogPosition(99)), in: try log()).isEmpty)
  }

  @Test("rooms, users, devices and types")
  func filters() throws {
    let log = try log()
    let inRoom = try rows(AuditFilter(room: Self.room), in: log)
    #expect(inRoom.count == 15)
    #expect(try rows(AuditFilter(room: RoomID(Self.user.uuid)), in: log).isEmpty)
    #expect(try rows(AuditFilter(user: Self.other), in: log).map(\.type) == ["member.added", "member.removed"])
    #expect(
      try rows(AuditFilter(device: Self.device), in: log).map(\.type) == [
        "session.started", "device.registered", "device.updated", "push-token.invalidated", "device.removed",
        "push.outcomes-recorded",
      ])
    #expect(
      try rows(AuditFilter(room: Self.room, kinds: try kinds("message.sent", "user.registered")), in: log).map(\.type)
        == ["message.sent"])
  }

  private func kinds(_ names: String...) throws -> Set<EventKind> {
    Set(try names.map { try #require(EventKind(name: $0)) })
  }

  @Test("a day means all of it")
  func days() throws {
    let day = try #require(AuditTime(argument: "2026-01-31"))
    #expect(day.earliest.rfc3339 == "2026-01-31T00:00:00.000Z")
    #expect(day.latest.rfc3339 == "2026-01-31T23:59:59.999Z")
    #expect(AuditTime(argument: "2026-02-30") == nil)
    #expect(AuditTime(argument: "yesterday") == nil)
  }

  @Test("CSV is quoted as RFC 4180 has it")
  func sheet() throws {
    let pipe = Pipe()
    var writer = AuditCSV(ByteOutput(pipe.fileHandleForWriting.fileDescriptor))
    try writer.begin()
    for row in try rows(AuditFilter(kinds: try kinds("message.sent")), in: try log()) { try writer.write(row) }
    try writer.end()
    try pipe.fileHandleForWriting.close()
    let text = String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    let lines = text.components(separatedBy: "\r\n")
    #expect(lines.count == 3)
    #expect(lines[0] == AuditCSV.names.joined(separator: ","))
    #expect(lines[1].hasSuffix(#","{""text"":""hello, \""world\""\r\n""}""#))
  }

  @Test("a closed output has an error of its own")
  func closedPipe() throws {
    let pipe = Pipe()
    let output = ByteOutput(pipe.fileHandleForWriting.fileDescriptor)
    try pipe.fileHandleForReading.close()
    try output.line("tea")
    #expect(throws: OutputClosed.self) { try output.flush() }
  }
}

/// The audit of a log on a disk, in which rooms take turns.
@Suite("The audit of a sealed log")
struct SealedAuditTests {
  private static let rooms = (1...10 as ClosedRange<UInt64>).map { RoomID(UUIDBytes(high: 2, low: $0)) }
  private static let rareRoom = RoomID(UUIDBytes(high: 2, low: 11))
  private static let rarePositions: Set<UInt64> = [700, 1_900, 2_950]
  private static let author = UserID(UUIDBytes(high: 1, low: 1))
  private static let messages: UInt64 = 3_000
  /// How many messages one room has before it is the next room's turn.
  private static let turn: UInt64 = 150
  private static let blockMessages = 50

  private static func room(at position: UInt64) -> RoomID {
    rarePositions.contains(position) ? rareRoom : rooms[Int((position - 1) / turn) % rooms.count]
  }

  /// About 200 bytes that compress poorly.
  private static func text(at position: UInt64) -> String {
    let words = (0..<12 as Range<UInt64>).map { (position &* 12 &+ $0) &* 0x9e37_79b9_7f4a_7c15 }
    return words.map { String($0, radix: 16) }.joined(separator: " ")
  }

  private static func fill(_ log: EmbeddedLog) throws {
    var versions: [RoomID: UInt64] = [:]
    while log.head.value < messages {
      var block = BlockBuilder(first: log.head.next)
      for _ in 0..<blockMessages {
        let position = block.next
        let room = room(at: position.value)
        let version = versions[room, default: 0] + 1
        versions[room] = version
        let message = MessageID(UUIDBytes(high: 5, low: position.value))
        let recorded = RecordedEvent(
          stamp: Stamp(position: position, time: Timestamp(milliseconds: Int64(position.value) * 100)),
          version: StreamVersion(version), actor: author, service: nil, device: nil, command: nil, originalTime: nil,
          event: .room(room, .messages(.sent(message, author: author, thread: nil, .plain(text(at: position.value))))))
        let (envelope, payload) = try EventCodec.encode(recorded)
        try block.append(envelope, payload: payload)
      }
      try log.append(block)
    }
  }

  private static func rows(of room: RoomID, in log: any BlockSource) throws -> [AuditRow] {
    var rows: [AuditRow] = []
    try AuditScan(source: log, filter: AuditFilter(room: room)).forEach { rows.append($0) }
    return rows
  }

  private static func blocks(of log: any BlockSource) throws -> [Block] {
    var blocks: [Block] = []
    var position = LogPosition.first
    while position <= log.head {
      let block = try log.block(containing: position)
      blocks.append(block)
      position = block.last.next
    }
    return blocks
  }

  @Test("a room's rows are those of the unsealed log, and no block is decoded that holds none of them")
  func sealed() throws {
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent("audit-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let log = try EmbeddedLog.open(
      directory: directory,
      options: LogOptions(segmentBytes: 128 * 1024, preparesAhead: false, sealsInBackground: false))
    try Self.fill(log)
    let rooms = Self.rooms + [Self.rareRoom]
    let unsealed = try rooms.map { room in try Self.rows(of: room, in: log) }
    try log.roll()
    while try log.sealNext() {}
    try log.close()
    let report = try LogVerifier(directory: directory).run()
    #expect(report.sealedSegments > 1 && report.sealedSegments == report.segments - 1)
    let blocks = try Self.blocks(of: LogReader.open(directory: directory))
    for (room, expected) in zip(rooms, unsealed) {
      let reader = try LogReader.open(directory: directory)
      let before = reader.blocksRead
      let rows = try Self.rows(of: room, in: reader)
      let decoded = reader.blocksRead - before
      let holding = blocks.count { $0.records.contains { $0.envelope.stream == room.uuid } }
      #expect(decoded == holding && holding < blocks.count)
      let positions = (1...Self.messages).filter { Self.room(at: $0) == room }
      #expect(rows.map(\.position.value) == positions)
      #expect(
        rows.map { JSONValue.object($0.fields).encoded } == expected.map { JSONValue.object($0.fields).encoded })
    }
  }
}

/// Blocks that exist only in memory.
private final class MemoryBlocks: BlockSource {
  let identity = LogIdentity(bytes: UUIDBytes(high: 9, low: 9))
  let records: [LogRecord]
  private let blockRecords: Int

  init(_ records: [LogRecord], blockRecords: Int) {
    self.records = records
    self.blockRecords = blockRecords
  }

  var head: LogPosition { LogPosition(UInt64(records.count)) }

  func block(containing position: LogPosition) throws(LogError) -> Block {
    guard let index = Int(exactly: position.value), (1...records.count).contains(index) else {
      throw LogError(.outOfRange, "out of range")
    }
    let start = (index - 1) / blockRecords * blockRecords
    return Block(
      first: LogPosition(UInt64(start) + 1), records: Array(records[start..<min(start + blockRecords, records.count)]),
      storedBytes: 1, rawBytes: 1, codec: .stored, segment: "memory", offset: 0)
  }
}

extension ChatEvent {
  /// Whether the envelope contains everything about the event.
  fileprivate var hasNoPayload: Bool {
    switch self {
    case .user(_, .devices(.removed)), .user(_, .account(.disabled)), .user(_, .account(.enabled)), .user(_, .blocks),
      .user(_, .deletion(.deleted)),
      .room(_, .lifecycle(.archived)), .room(_, .lifecycle(.restored)),
      .room(_, .lifecycle(.deleted)), .room(_, .sharing(.inviteRevoked)), .room(_, .members(.left)),
      .room(_, .members(.removed)), .room(_, .members(.banned)), .room(_, .members(.unbanned)),
      .room(_, .members(.hidden)), .room(_, .members(.shown)), .room(_, .scheduling(.cancelled)),
      .workspace(_, .lifecycle(.deleted)), .workspace(_, .sharing(.inviteRevoked)), .workspace(_, .members(.left)),
      .workspace(_, .members(.removed)), .workspace(_, .invitations(.withdrawn)):
      true
    case .user, .room, .workspace, .server: false
    }
  }
}
