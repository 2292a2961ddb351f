import ChatDomain
import ChatPrimitives
import EventLog
import EventStore
import Testing

private func id<Entity>(_ number: UInt64) -> ID<Entity> { ID(UUIDBytes(high: 7, low: number)) }

private let user: UserID = golden(1)
private let token = PushToken(provider: .apns, token: "a1b2")
private let device = DeviceDescription(name: "phone", type: "ios", osVersion: nil, tokens: [token])
private let credential = Credential(
  version: 1, hash: [1, 2, 3], logRounds: 15, blockSize: 8, parallelism: 3)

/// One event of each kind, and the variants of kinds with optional parts.
private let everyEvent: [ChatEvent] =
  [
    .user(
      user,
      .account(
        .registered(
          Registration(
            nickname: "Alice", email: "alice@example.org", externalID: "crm-7", credential: credential,
            commitmentKey: Array(repeating: 9, count: 32))))),
    .user(
      user,
      .account(
        .registered(Registration(nickname: "A", email: nil, externalID: nil, credential: nil, commitmentKey: [])))),
    .user(user, .account(.profileChanged(ProfileEdit(nickname: "앨리스")))),
    .user(user, .account(.profileChanged(ProfileEdit(nickname: "A", picture: .remove, custom: "{}")))),
    .user(user, .account(.profileChanged(ProfileEdit(custom: "")))),
    .user(
      user,
      .account(
        .preferencesSet(
          PreferencesEdit(
            notifications: .mentions, mutedKinds: [.added, .message], quietHours: goldenNight, showsPreviews: true,
            directRooms: .nobody, groupAdditions: .known)))),
    .user(user, .sessions(.started(id(2), device: id(3)))),
    .user(user, .sessions(.started(id(2), device: nil))),
    .user(user, .sessions(.refreshed(id(2), generation: 4))),
    .user(user, .sessions(.ended(id(2), .refreshTokenReused))),
    .user(user, .sessions(.ended(id(2), .superseded))),
    .user(user, .devices(.registered(id(3), device))),
    .user(user, .devices(.updated(id(3), DeviceDescription(name: nil, type: nil, osVersion: "", tokens: [])))),
    .user(
      user,
      .devices(
        .updated(
          id(3),
          DeviceDescription(
            name: nil, type: nil, osVersion: nil, tokens: [PushToken(provider: .webPush, token: "e k s")],
            notifications: .none, apnsEnvironment: .sandbox, language: "", roomChanges: true)))),
    .user(user, .devices(.tokenInvalidated(id(3), token))),
    .user(user, .devices(.tokenTaken(id(3), .webPush))),
    .user(user, .devices(.removed(id(3)))),
    .room(id(4), .lifecycle(.created(RoomCreation(kind: .channel, name: "tea", creator: user)))),
    .room(id(4), .lifecycle(.created(RoomCreation(kind: .group, name: "tea", creator: user, custom: #"{"a":1}"#)))),
    .room(id(4), .lifecycle(.edited(RoomEdit(name: "차")))),
    .room(id(4), .lifecycle(.edited(RoomEdit(name: "차", custom: "[1]")))),
    .room(id(4), .lifecycle(.edited(RoomEdit(custom: "")))),
    .room(id(4), .lifecycle(.archived)),
    .room(
      id(4),
      .sharing(
        .inviteCreated(
          Invite(
            id: id(5), tokenHash: Array(repeating: 3, count: 32), role: .administrator,
            expiresAt: Timestamp(milliseconds: 9), maximumUses: 2)))),
    .room(
      id(4),
      .sharing(
        .inviteCreated(
          Invite(id: id(5), tokenHash: [], role: .member, expiresAt: Timestamp(milliseconds: 9), maximumUses: nil)))),
    .room(
      id(4),
      .sharing(
        .inviteCreated(
          Invite(id: id(5), tokenHash: [], role: .member, expiresAt: nil, maximumUses: nil, codeHash: [1, 2])))),
    .workspace(
      id(10),
      .sharing(
        .inviteCreated(
          WorkspaceInvite(id: id(5), tokenHash: [], role: .guest, expiresAt: nil, maximumUses: nil, codeHash: [1])))),
    .room(id(4), .sharing(.inviteRevoked(id(5)))),
    .workspace(id(10), .lifecycle(.created(WorkspaceCreation(name: "guild", creator: user, topic: "tea")))),
    .workspace(id(10), .lifecycle(.created(WorkspaceCreation(name: "guild", creator: user, topic: "")))),
    .room(id(4), .members(.joined(user, role: .owner, invite: id(5)))),
    .room(id(4), .members(.joined(user, role: .member, invite: nil))),
    .room(id(4), .members(.added(id(6), role: .member))),
    .room(id(4), .members(.left(user))),
    .room(id(4), .members(.admissionRepeated(user, .invite(id(5))))),
    .room(id(4), .members(.admissionRepeated(user, .service))),
    .room(id(4), .members(.admissionRepeated(user, .member))),
    .room(id(4), .members(.removed(id(6)))),
    .room(id(4), .members(.muted(user, until: Timestamp(milliseconds: 5)))),
    .room(id(4), .members(.muted(user, until: nil))),
    .room(id(4), .members(.notificationsSet(user, .mentions))),
    .room(id(4), .members(.notificationsSet(user, nil))),
    .room(id(4), .members(.hidden(user))),
    .room(id(4), .members(.shown(user))),
    .room(id(4), .annotations(.reactionAdded(id(7), at: .room(3), by: user, emoji: "👍", messageAuthor: id(6)))),
    .room(id(4), .annotations(.reactionAdded(id(7), at: .room(3), by: user, emoji: "👍"))),
    .room(id(4), .messages(.sent(id(7), author: user, thread: nil, .plain("hello 👋")))),
    .room(id(4), .messages(.edited(id(7), at: .room(3), .plain("bye")))),
    .room(id(4), .messages(.edited(id(7), at: .room(3), MessageEdit(text: nil, customBody: "{}")))),
    .room(id(4), .messages(.edited(id(7), at: .room(3), MessageEdit(text: "", customBody: "")))),
    .room(
      id(4),
      .messages(
        .sent(
          id(7), author: user, thread: nil,
          MessageContent(
            text: "", details: MessageDetails(custom: CustomPart(type: "a", body: "{}", isSilent: true)))))),
    .room(id(4), .messages(.deleted(id(7), at: .room(3)))),
    .room(id(4), .reading(.markerMoved(user, to: id(7), ordinal: 3))),
    .server(
      .pushOutcomesRecorded(
        PushOutcomes(
          settledThrough: LogPosition(8),
          outcomes: [PushOutcome(position: LogPosition(9), user: id(5), device: id(3), result: .tokenInvalid)]))),
    .server(
      .pushOutcomesRecorded(
        PushOutcomes(
          settledThrough: LogPosition(8),
          outcomes: PushAbandonment.allCases.map {
            PushOutcome(
              position: LogPosition(9), user: id(5), device: id(3), result: .abandoned, reason: $0, response: "413")
          }))),
  ] + goldenEvents.map(\.event)

private func recorded(_ event: ChatEvent) -> RecordedEvent {
  RecordedEvent(
    stamp: Stamp(position: LogPosition(41), time: Timestamp(milliseconds: 1_000)), version: StreamVersion(3),
    actor: user, service: id(8), device: id(3), command: id(9), originalTime: Timestamp(milliseconds: -5),
    event: event)
}

@Suite("The event codec")
struct EventCodecTests {
  @Test("every event is decoded as it was encoded", arguments: everyEvent)
  func roundTrip(event: ChatEvent) throws {
    let original = recorded(event)
    let (envelope, payload) = try EventCodec.encode(original)
    let record = LogRecord(position: original.position, envelope: envelope, payload: .retained(payload))
    #expect(try EventCodec.decode(record) == original)
  }

  @Test("an event that happened before its recorded time comes back with its own time", arguments: everyEvent)
  func earlierThanRecorded(event: ChatEvent) throws {
    let original = recorded(event)
    let (plain, plainPayload) = try EventCodec.encode(original)
    let later = Timestamp(milliseconds: 1_001)
    let (envelope, payload) = try EventCodec.encode(original, recordedTime: later)
    #expect(envelope.time == later)
    #expect(payload == plainPayload + [0xc1, 0x3e, 0xe8, 0x03, 0, 0, 0, 0, 0, 0])
    func decoded(_ payload: RecordPayload) throws -> RecordedEvent {
      try EventCodec.decode(LogRecord(position: original.position, envelope: envelope, payload: payload))
    }
    #expect(try decoded(.retained(payload)) == original)
    // If the payload is gone, only the recorded time is left.
    #expect(try decoded(.erased(digest: Array(repeating: 0, count: 32))).stamp.time == later)
    // If the clock is not behind the log, no byte changes.
    let (same, samePayload) = try EventCodec.encode(original, recordedTime: original.stamp.time)
    #expect(same == plain && samePayload == plainPayload)
  }

  @Test("a text that ends like the field of the time is a text")
  func notTheTime() throws {
    // Field 1 of an identity, as bytes, with the tag of the time field inside it.
    let inside: [UInt8] = [0xc1, 0x3e, 1, 2, 3, 4, 5, 6, 7, 8]
    let (envelope, _) = try EventCodec.encode(recorded(.room(id(4), .lifecycle(.archived))))
    for (payload, time) in [([0x0a, 10] + inside, Int64(1_000)), ([0x0a, 0] + inside, 0x0807_0605_0403_0201)] {
      let record = LogRecord(position: LogPosition(41), envelope: envelope, payload: .retained(payload))
      #expect(try EventCodec.decode(record).stamp.time == Timestamp(milliseconds: time))
    }
  }

  @Test("the list above has every kind")
  func everyKindIsTested() throws {
    let kinds = try Set(everyEvent.map { try EventCodec.encode(recorded($0)).0.kind })
    #expect(kinds == Set(EventKind.all.map(\.number)))
  }

  @Test("a record without its payload is read: what the envelope tells stays", arguments: everyEvent)
  func erased(event: ChatEvent) throws {
    let (envelope, _) = try EventCodec.encode(recorded(event))
    let record = LogRecord(
      position: LogPosition(41), envelope: envelope, payload: .erased(digest: Array(repeating: 0, count: 32)))
    #expect(try EventCodec.decode(record).event == withoutPayload(event, kind: envelope.kind))
  }

  /// What remains of an event whose payload was erased.
  private func withoutPayload(_ event: ChatEvent, kind: UInt16) -> ChatEvent {
    switch event {
    case .user(_, .devices(.removed)), .user(_, .account(.disabled)), .user(_, .account(.enabled)), .user(_, .blocks),
      .user(_, .deletion(.deleted)),
      .room(_, .lifecycle(.archived)), .room(_, .lifecycle(.restored)),
      .room(_, .lifecycle(.deleted)), .room(_, .sharing(.inviteRevoked)), .room(_, .members(.left)),
      .room(_, .members(.removed)),
      .room(_, .members(.banned)), .room(_, .members(.unbanned)), .room(_, .members(.hidden)),
      .room(_, .members(.shown)), .room(_, .scheduling(.cancelled)),
      .workspace(_, .lifecycle(.deleted)), .workspace(_, .sharing(.inviteRevoked)), .workspace(_, .members(.left)),
      .workspace(_, .members(.removed)), .workspace(_, .invitations(.withdrawn)):
      event
    case .room(let room, .messages(.sent(let message, let author, nil, _))):
      .room(room, .messages(.sent(message, author: author, thread: nil, nil)))
    case .room(let room, .scheduling(.scheduled(let message, _))):
      .room(room, .scheduling(.scheduled(message, nil)))
    case .user(let user, .devices(.tokenMoved(let device, _))):
      .user(user, .devices(.tokenMoved(device, nil)))
    case .room(let room, .reports(.filed(let report, let reporter, _))):
      .room(room, .reports(.filed(report, reporter: reporter, nil)))
    case .room(let room, .reports(.resolved(let report, _))):
      .room(room, .reports(.resolved(report, nil)))
    case .user(let user, .logins(.identityUnlinked(_, let linked))):
      .user(user, .logins(.identityUnlinked(nil, linked: linked)))
    case .server(.legalHoldLifted(let lift)): .server(.legalHoldLifted(.onID(lift.id)))
    case .user(let user, _): .user(user, .erased(kind: kind))
    case .room(let room, _): .room(room, .erased(kind: kind))
    case .workspace(let workspace, _): .workspace(workspace, .erased(kind: kind))
    case .server: .server(.erased(kind: kind))
    }
  }

  @Test("an unknown kind stops the reader, with its position")
  func unknown() throws {
    var (envelope, payload) = try EventCodec.encode(recorded(everyEvent[2]))
    func failure(_ envelope: RecordEnvelope, _ payload: [UInt8]) -> CodecError.Code? {
      do throws(CodecError) {
        _ = try EventCodec.decode(
          LogRecord(position: LogPosition(41), envelope: envelope, payload: .retained(payload)))
        return nil
      } catch {
        #expect(error.position == LogPosition(41))
        return error.code
      }
    }
    #expect(failure(envelope, [0xff, 0xff, 0xff]) == .malformedPayload)
    envelope.kind = 9_999
    #expect(failure(envelope, payload) == .unknownKind)
    envelope.kind = EventKind.messageSent
    #expect(failure(envelope, payload) == .unknownKind)
    envelope.kind = try #require(EventKind(name: "profile.changed")).number
    envelope.payloadVersion = 2
    #expect(failure(envelope, payload) == .unknownVersion)
    envelope.payloadVersion = 1
    envelope.kind = try #require(EventKind(name: "device.removed")).number
    envelope.subject = nil
    #expect(failure(envelope, []) == .missingField)
    payload = []
  }

  @Test("a kind in a stream of another kind stops the reader", arguments: everyEvent)
  func foreignStream(event: ChatEvent) throws {
    let (original, payload) = try EventCodec.encode(recorded(event))
    var envelope = original
    for stream in StreamKind.allCases where stream != event.streamAddress.0 {
      envelope.streamKind = stream.rawValue
      for payload: RecordPayload in [.retained(payload), .erased(digest: Array(repeating: 0, count: 32))] {
        let record = LogRecord(position: LogPosition(41), envelope: envelope, payload: payload)
        let error = #expect(throws: CodecError.self) { try EventCodec.decode(record) }
        #expect(error?.code == .unknownKind)
      }
    }
  }
}
