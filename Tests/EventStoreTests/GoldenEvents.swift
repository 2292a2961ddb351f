import ChatDomain
import ChatPrimitives
import EventStore

private func id<Entity>(_ number: UInt64) -> ID<Entity> { ID(UUIDBytes(high: 0x0199_0000_0000_7000, low: number)) }

private let alice: UserID = id(1)
private let bob: UserID = id(2)
private let session: SessionID = id(10)
private let phone: DeviceID = id(20)
private let room: RoomID = id(30)
private let invite: InviteID = id(40)
private let message: MessageID = id(50)
private let apns = PushToken(provider: .apns, token: "a1b2")
private let fcm = PushToken(provider: .fcm, token: "c3d4")

/// The content of the lines of `Tests/Fixtures/v1/events.txt`, in the same order: at least one event of each kind, and
/// every raw value that occurs in a payload. A new kind is added at the end; nothing else here ever changes.
let goldenEvents: [RecordedEvent] =
  ([
    .user(
      alice,
      .account(
        .registered(
          Registration(
            nickname: "Alice", email: "alice@example.org", externalID: "crm-7",
            credential: Credential(version: 1, hash: [1, 2, 3], logRounds: 15, blockSize: 8, parallelism: 3),
            commitmentKey: Array(repeating: 9, count: 32))))),
    .user(alice, .account(.profileChanged(ProfileEdit(nickname: "앨리스")))),
    .user(alice, .sessions(.started(session, device: phone))),
    .user(alice, .sessions(.refreshed(session, generation: 300))),
    .user(alice, .sessions(.ended(session, .loggedOut))),
    .user(alice, .sessions(.ended(session, .refreshTokenReused))),
    .user(alice, .sessions(.ended(session, .deviceRemoved))),
    .user(alice, .sessions(.ended(session, .superseded))),
    .user(
      alice,
      .devices(
        .registered(
          phone, DeviceDescription(name: "phone", type: "ios", osVersion: "26.1", tokens: [apns, fcm])))),
    .user(alice, .devices(.updated(phone, DeviceDescription(name: "mine", type: nil, osVersion: nil, tokens: [])))),
    .user(alice, .devices(.tokenInvalidated(phone, apns))),
    .user(alice, .devices(.removed(phone))),
    .room(room, .lifecycle(.created(RoomCreation(kind: .group, name: "tea", creator: alice)))),
    .room(room, .lifecycle(.created(RoomCreation(kind: .direct, name: "", creator: alice)))),
    .room(room, .lifecycle(.created(RoomCreation(kind: .channel, name: "차", creator: alice)))),
    .room(room, .lifecycle(.edited(RoomEdit(name: "green tea")))),
    .room(room, .lifecycle(.archived)),
    .room(
      room,
      .sharing(
        .inviteCreated(
          Invite(
            id: invite, tokenHash: Array(repeating: 3, count: 32), role: .administrator,
            expiresAt: Timestamp(milliseconds: 1_800_000_000_000), maximumUses: 2)))),
    .room(room, .sharing(.inviteRevoked(invite))),
    .room(room, .members(.joined(alice, role: .owner, invite: nil))),
    .room(room, .members(.joined(bob, role: .member, invite: invite))),
    .room(room, .members(.added(bob, role: .administrator))),
    .room(room, .members(.left(bob))),
    .room(room, .members(.removed(bob))),
    .room(room, .members(.admissionRepeated(bob, .invite(invite)))),
    .room(room, .members(.admissionRepeated(bob, .service))),
    .room(room, .members(.admissionRepeated(bob, .member))),
    .room(room, .members(.muted(bob, until: Timestamp(milliseconds: 1_800_000_000_000)))),
    .room(room, .members(.muted(bob, until: nil))),
    .room(room, .messages(.sent(message, author: alice, thread: nil, .plain("hello 👋")))),
    .room(room, .messages(.edited(message, at: .room(300), .plain("bye")))),
    .room(room, .messages(.deleted(message, at: .room(300)))),
    .room(room, .reading(.markerMoved(alice, to: message, ordinal: 300))),
    .server(
      .pushOutcomesRecorded(
        PushOutcomes(
          settledThrough: LogPosition(8),
          outcomes: [
            PushOutcome(position: LogPosition(9), user: alice, device: phone, result: .delivered),
            PushOutcome(position: LogPosition(10), user: bob, device: phone, result: .tokenInvalid),
            PushOutcome(position: LogPosition(11), user: bob, device: phone, result: .abandoned),
          ]))),
  ] + laterEvents as [ChatEvent]).enumerated().map { recorded($1, line: UInt64($0) + 1) }

/// Every second event also has a service, a device, a command and an original time. The actor is always Alice.
private func recorded(_ event: ChatEvent, line: UInt64) -> RecordedEvent {
  let isFull = line.isMultiple(of: 2)
  return RecordedEvent(
    stamp: Stamp(position: LogPosition(line), time: Timestamp(milliseconds: 1_767_225_600_000 + Int64(line))),
    version: StreamVersion(line), actor: alice, service: isFull ? id(60) : nil, device: isFull ? phone : nil,
    command: isFull ? id(70) : nil, originalTime: isFull ? Timestamp(milliseconds: 946_684_800_000) : nil, event: event)
}
