import ChatDomain
import ChatPrimitives

/// Writes a history event by event, and assigns positions, versions and times.
struct EventScript {
  private(set) var events: [RecordedEvent] = []
  private var versions: [UUIDBytes: UInt64] = [:]

  /// 2026-01-01T00:00:00Z.
  static let start: Int64 = 1_767_225_600_000

  /// The position and time of the last event.
  var last: Stamp { events.last?.stamp ?? Stamp(position: .origin, time: Timestamp(milliseconds: Self.start)) }

  @discardableResult
  mutating func add(
    _ event: ChatEvent, actor: UserID? = nil, service: ServiceID? = nil, command: CommandID? = nil,
    originalTime: Timestamp? = nil
  ) -> Stamp {
    let stream: UUIDBytes =
      switch event {
      case .user(let id, _): id.uuid
      case .room(let id, _): id.uuid
      case .workspace(let id, _): id.uuid
      case .server: .zero
      }
    versions[stream, default: 0] += 1
    let position = LogPosition(UInt64(events.count + 1))
    let stamp = Stamp(
      position: position, time: Timestamp(milliseconds: Self.start + Int64(events.count / 3) * 1000))
    events.append(
      RecordedEvent(
        stamp: stamp, version: StreamVersion(versions[stream, default: 0]), actor: actor, service: service, device: nil,
        command: command, originalTime: originalTime, event: event))
    return stamp
  }

  @discardableResult
  mutating func user(_ id: UserID, _ event: UserEvent, command: CommandID? = nil) -> Stamp {
    add(.user(id, event), actor: id, command: command)
  }

  @discardableResult
  mutating func room(
    _ id: RoomID, _ event: RoomEvent, by actor: UserID? = nil, command: CommandID? = nil, at time: Timestamp? = nil
  ) -> Stamp {
    add(.room(id, event), actor: actor, command: command, originalTime: time)
  }

  mutating func register(_ id: UserID, _ nickname: String) {
    user(
      id,
      .account(
        .registered(
          Registration(nickname: nickname, email: nil, externalID: nickname, credential: nil, commitmentKey: [1]))))
  }

  /// Creates a room with its creator as the first member.
  mutating func create(_ id: RoomID, by creator: UserID) {
    room(id, .lifecycle(.created(RoomCreation(kind: .group, name: "tea", creator: creator))), by: creator)
    room(id, .members(.joined(creator, role: .owner, invite: nil)), by: creator)
  }

  mutating func send(_ count: Int = 1, to id: RoomID, by author: UserID, firstID: UInt64) {
    for number in 0..<UInt64(count) {
      room(
        id,
        .messages(.sent(.numbered(firstID + number), author: author, thread: nil, .plain("text \(firstID + number)"))),
        by: author)
    }
  }
}

extension ID {
  /// IDs for tests: small numbers, which are easy to read when a test fails.
  static func numbered(_ number: UInt64) -> ID { ID(UUIDBytes(high: 0x1111_0000_0000_4000, low: 1 << 63 | number)) }
}
