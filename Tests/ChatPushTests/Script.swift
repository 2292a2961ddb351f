import ChatDomain
import ChatPrimitives

/// Writes a history event by event, and assigns positions, versions and times.
struct Script {
  /// 2026-01-01T00:00:00Z.
  static let start: Int64 = 1_767_225_600_000

  private(set) var events: [RecordedEvent] = []
  private var messages: UInt64 = 0

  static func time(_ position: LogPosition) -> Timestamp {
    Timestamp(milliseconds: start + Int64(position.value) * 1000)
  }

  @discardableResult
  mutating func add(_ event: ChatEvent, by actor: UserID? = nil, originalTime: Timestamp? = nil) -> LogPosition {
    let position = LogPosition(UInt64(events.count + 1))
    events.append(Self.recorded(event, at: position, by: actor, originalTime: originalTime))
    return position
  }

  static func recorded(
    _ event: ChatEvent, at position: LogPosition, by actor: UserID? = nil, originalTime: Timestamp? = nil
  ) -> RecordedEvent {
    RecordedEvent(
      stamp: Stamp(position: position, time: time(position)), version: StreamVersion(position.value), actor: actor,
      service: nil, device: nil, command: nil, originalTime: originalTime, event: event)
  }

  @discardableResult
  mutating func user(_ id: UserID, _ event: UserEvent) -> LogPosition { add(.user(id, event), by: id) }

  @discardableResult
  mutating func room(_ id: RoomID, _ event: RoomEvent, by actor: UserID? = nil) -> LogPosition {
    add(.room(id, event), by: actor)
  }

  mutating func register(_ id: UserID, _ nickname: String) {
    user(
      id,
      .account(
        .registered(
          Registration(nickname: nickname, email: nil, externalID: nickname, credential: nil, commitmentKey: [1]))))
  }

  /// Registers a device with this APNs token, or without a token.
  @discardableResult
  mutating func device(_ id: DeviceID, of user: UserID, token: String?) -> LogPosition {
    self.user(user, .devices(.registered(id, .with(token))))
  }

  mutating func create(_ id: RoomID, by creator: UserID, _ members: UserID...) {
    room(id, .lifecycle(.created(RoomCreation(kind: .group, name: "tea", creator: creator))), by: creator)
    room(id, .members(.joined(creator, role: .owner, invite: nil)), by: creator)
    for member in members { room(id, .members(.added(member, role: .member)), by: creator) }
  }

  @discardableResult
  mutating func send(
    _ text: String = "hello", to room: RoomID, by author: UserID, originalTime: Timestamp? = nil
  ) -> LogPosition {
    messages += 1
    return add(
      .room(room, .messages(.sent(.numbered(messages), author: author, thread: nil, .plain(text)))), by: author,
      originalTime: originalTime
    )
  }

  /// The ID of one of the last messages.
  func recent(_ number: UInt64) -> MessageID { .numbered(messages - min(messages, number % 8)) }

  /// Switches push on.
  @discardableResult
  mutating func baseline() -> LogPosition { recordOutcomes(through: LogPosition(UInt64(events.count))) }

  @discardableResult
  mutating func recordOutcomes(through position: LogPosition, _ outcomes: [PushOutcome] = []) -> LogPosition {
    add(.server(.pushOutcomesRecorded(PushOutcomes(settledThrough: position, outcomes: outcomes))))
  }
}

extension DeviceDescription {
  static func with(_ token: String?) -> DeviceDescription {
    DeviceDescription(
      name: nil, type: nil, osVersion: nil, tokens: token.map { [PushToken(provider: .apns, token: $0)] } ?? [])
  }
}

extension ID {
  /// IDs for tests: small numbers, which are easy to read when a test fails.
  static func numbered(_ number: UInt64) -> ID { ID(UUIDBytes(high: 0x1111_0000_0000_4000, low: 1 << 63 | number)) }
}

let anna = UserID.numbered(1)
let ben = UserID.numbered(2)
let carla = UserID.numbered(3)
let tea = RoomID.numbered(1)
let cake = RoomID.numbered(2)
let annasPhone = DeviceID.numbered(11)
let bensPhone = DeviceID.numbered(21)
let bensTablet = DeviceID.numbered(22)
let carlasPhone = DeviceID.numbered(31)
