import ChatDomain
import ChatPrimitives
import EventLog
import EventStore

/// Decides which records an audit shows. The envelope is checked first. The payload is checked only if the filter has a
/// device that the envelope does not name.
struct AuditFilter {
  var room: RoomID?
  var user: UserID?
  var device: DeviceID?
  /// Empty means every kind.
  var kinds: Set<EventKind> = []
  /// The range of recorded times, both ends included.
  var since: Timestamp?
  var until: Timestamp?
  /// The range of positions, both ends included.
  var first = LogPosition.first
  var last: LogPosition?

  /// Whether the envelope passes the filter. Also true if only the payload could name the device.
  func admits(_ envelope: RecordEnvelope) -> Bool {
    if let since, envelope.time < since { return false }
    if let until, envelope.time > until { return false }
    if !kinds.isEmpty {
      guard let kind = EventKind(number: envelope.kind), kinds.contains(kind) else { return false }
    }
    if let room, envelope.streamKind != StreamKind.room.rawValue || envelope.stream != room.uuid { return false }
    if let user, !concerns(user.uuid, envelope) { return false }
    if let device, !mayConcern(device.uuid, envelope) { return false }
    return true
  }

  /// Whether a row is shown whose envelope was admitted.
  func admits(_ row: AuditRow) -> Bool {
    guard let device, !namesDevice(device.uuid, row.envelope) else { return true }
    return Self.names(device.description, in: .object(row.detail))
  }

  /// Whether the user is the actor or the subject, or the event is in the user's own stream.
  private func concerns(_ user: UUIDBytes, _ envelope: RecordEnvelope) -> Bool {
    envelope.actor == user || envelope.subject == user
      || (envelope.streamKind == StreamKind.user.rawValue && envelope.stream == user)
  }

  /// Whether the event came from the device or is about it.
  private func namesDevice(_ device: UUIDBytes, _ envelope: RecordEnvelope) -> Bool {
    envelope.device == device || envelope.subject == device
  }

  private func mayConcern(_ device: UUIDBytes, _ envelope: RecordEnvelope) -> Bool {
    if namesDevice(device, envelope) { return true }
    return envelope.kind == EventKind.sessionStarted || envelope.kind == EventKind.pushOutcomesRecorded
  }

  private static func names(_ device: String, in value: JSONValue) -> Bool {
    switch value {
    case .null, .bool, .number, .signed, .decimal, .text: false
    case .list(let items): items.contains { names(device, in: $0) }
    case .object(let fields):
      fields.contains { name, value in
        if case .text(let text) = value { return name == "device" && text == device }
        return names(device, in: value)
      }
    }
  }
}
