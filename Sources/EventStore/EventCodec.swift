public import ChatDomain
public import ChatPrimitives
public import EventLog
import SwiftProtobuf

/// Between facts and records: the envelope holds what every kind shares, the payload what is its own.
package enum EventCodec {
  /// The version of every payload written today. An older one is brought up to it on reading.
  static let payloadVersion: UInt8 = 1

  package static func encode(_ recorded: RecordedEvent) throws(CodecError) -> (RecordEnvelope, payload: [UInt8]) {
    guard let body = encodedBody(of: recorded.event) else {
      throw CodecError(.unwritable, position: recorded.position, kind: 0, detail: "an erased fact is not written anew")
    }
    let payload: [UInt8]
    do {
      payload = try body.message?.serializedBytes() ?? []
    } catch {
      throw CodecError(
        .unwritable, position: recorded.position, kind: body.kind.rawValue, detail: String(describing: error))
    }
    let (streamKind, stream) = recorded.event.streamAddress
    let envelope = RecordEnvelope(
      kind: body.kind.rawValue, payloadVersion: payloadVersion, streamKind: streamKind.rawValue, stream: stream,
      streamVersion: recorded.version, time: recorded.stamp.time, actor: recorded.actor?.uuid,
      service: recorded.service?.uuid, device: recorded.device?.uuid, subject: body.subject,
      command: recorded.command?.uuid, originalTime: recorded.originalTime)
    return (envelope, payload)
  }

  package static func decode(_ record: LogRecord) throws(CodecError) -> RecordedEvent {
    let envelope = record.envelope
    return RecordedEvent(
      stamp: Stamp(position: record.position, time: envelope.time), version: envelope.streamVersion,
      actor: envelope.actor.map(UserID.init), service: envelope.service.map(ServiceID.init),
      device: envelope.device.map(DeviceID.init), command: envelope.command.map(CommandID.init),
      originalTime: envelope.originalTime, event: try event(in: record))
  }

  private static func encodedBody(of event: ChatEvent) -> EncodedBody? {
    switch event {
    case .user(_, let event): encode(event)
    case .room(_, let event): encode(event)
    case .server(let event): encode(event)
    }
  }

  private static func event(in record: LogRecord) throws(CodecError) -> ChatEvent {
    let reader = try PayloadReader(record)
    guard let streamKind = StreamKind(rawValue: record.envelope.streamKind) else {
      throw reader.failure(.unknownKind, "stream kind \(record.envelope.streamKind)")
    }
    switch streamKind {
    case .user: return .user(UserID(record.envelope.stream), try decodeUser(reader))
    case .room: return .room(RoomID(record.envelope.stream), try decodeRoom(reader))
    case .server: return .server(try decodeServer(reader))
    case .workspace: throw reader.failure(.unknownKind, "workspaces are not known to this version")
    }
  }
}

/// A fact as it is written: its kind, what it is about, and its payload (nil for an empty one).
struct EncodedBody {
  let kind: EventKind
  let subject: UUIDBytes?
  let message: (any SwiftProtobuf.Message)?

  init(_ kind: EventKind, subject: UUIDBytes? = nil, _ message: (any SwiftProtobuf.Message)? = nil) {
    self.kind = kind
    self.subject = subject
    self.message = message
  }
}

extension ChatEvent {
  /// The aggregate that the fact belongs to.
  package var streamAddress: (StreamKind, UUIDBytes) {
    switch self {
    case .user(let id, _): (.user, id.uuid)
    case .room(let id, _): (.room, id.uuid)
    case .server: (.server, .zero)
    }
  }
}

/// Reads one record's payload and the envelope fields that its kind needs.
struct PayloadReader {
  let record: LogRecord
  let kind: EventKind
  /// Nil when the payload was erased.
  let payload: [UInt8]?

  init(_ record: LogRecord) throws(CodecError) {
    self.record = record
    let number = record.envelope.kind
    guard let kind = EventKind(rawValue: number) else {
      throw CodecError(
        .unknownKind, position: record.position, kind: number,
        detail: "written by a later version; run that version, or a newer one")
    }
    guard record.envelope.payloadVersion == EventCodec.payloadVersion else {
      throw CodecError(
        .unknownVersion, position: record.position, kind: number,
        detail: "payload version \(record.envelope.payloadVersion)")
    }
    self.kind = kind
    switch record.payload {
    case .retained(let bytes), .retainedWithSalt(let bytes, _): payload = bytes
    case .erased: payload = nil
    }
  }

  func failure(_ code: CodecError.Code, _ detail: String) -> CodecError {
    CodecError(code, position: record.position, kind: record.envelope.kind, detail: detail)
  }

  /// The payload as `type`; nil when it was erased.
  func message<Body: SwiftProtobuf.Message>(_ type: Body.Type) throws(CodecError) -> Body? {
    guard let payload else { return nil }
    do {
      return try Body(serializedBytes: payload)
    } catch {
      throw failure(.malformedPayload, String(describing: error))
    }
  }

  func subject<Entity>(_ type: ID<Entity>.Type) throws(CodecError) -> ID<Entity> {
    guard let subject = record.envelope.subject else { throw failure(.missingField, "subject") }
    return ID(subject)
  }

  var actorIfAny: UserID? { record.envelope.actor.map(UserID.init) }

  func actor() throws(CodecError) -> UserID {
    guard let actor = actorIfAny else { throw failure(.missingField, "actor") }
    return actor
  }

  /// A 16-byte field of a payload; nil when it is empty.
  func id<Entity>(_ bytes: [UInt8]) throws(CodecError) -> ID<Entity>? {
    if bytes.isEmpty { return nil }
    guard let uuid = UUIDBytes(bytes: bytes) else { throw failure(.malformedPayload, "an ID of \(bytes.count) bytes") }
    return ID(uuid)
  }

  /// An enumeration's raw value.
  func value<Value: RawRepresentable>(_ number: UInt32, _ type: Value.Type) throws(CodecError) -> Value
  where Value.RawValue == UInt8 {
    guard let raw = UInt8(exactly: number), let value = Value(rawValue: raw) else {
      throw failure(.malformedPayload, "\(type) has no value \(number)")
    }
    return value
  }

  func byte(_ number: UInt32) throws(CodecError) -> UInt8 {
    guard let byte = UInt8(exactly: number) else { throw failure(.malformedPayload, "\(number) is not a byte") }
    return byte
  }
}
