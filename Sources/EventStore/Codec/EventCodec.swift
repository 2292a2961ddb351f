public import ChatDomain
public import ChatPrimitives
public import EventLog
import SwiftProtobuf

/// Converts events to records and back. The envelope holds the fields that all kinds share, the payload the others.
package enum EventCodec {
  /// The version of every payload. Records with another version are rejected, because there is only one version so far.
  static let payloadVersion: UInt8 = 1

  /// - Parameter recordedTime: the time for the envelope if it is later than the event's own time. Recorded time never
  ///   decreases, whatever the clock does. In this case the payload holds the time of the event.
  package static func encode(
    _ recorded: RecordedEvent, recordedTime: Timestamp = .earliest
  ) throws(CodecError) -> (RecordEnvelope, payload: [UInt8]) {
    var output = EventOutput(for: .payload)
    recorded.event.write(to: &output)
    if let failure = output.failure {
      throw CodecError(
        .unwritable, position: recorded.position, kind: output.kind ?? 0, detail: String(describing: failure))
    }
    guard let kind = output.kind, var payload = output.payload else {
      throw CodecError(
        .unwritable, position: recorded.position, kind: output.kind ?? 0, detail: "an erased event is not written again"
      )
    }
    let time = recorded.stamp.time
    if time < recordedTime { EventTimeField.append(time, to: &payload) }
    let (streamKind, stream) = recorded.event.streamAddress
    let envelope = RecordEnvelope(
      kind: kind, payloadVersion: payloadVersion, streamKind: streamKind.rawValue, stream: stream,
      streamVersion: recorded.version, time: max(time, recordedTime), actor: recorded.actor?.uuid,
      service: recorded.service?.uuid, device: recorded.device?.uuid, subject: output.subject,
      command: recorded.command?.uuid, originalTime: recorded.originalTime)
    return (envelope, payload)
  }

  package static func decode(_ record: LogRecord) throws(CodecError) -> RecordedEvent {
    let envelope = record.envelope
    let event = try event(in: record)
    return RecordedEvent(
      stamp: Stamp(position: record.position, time: time(of: record)), version: envelope.streamVersion,
      actor: envelope.actor.map(UserID.init), service: envelope.service.map(ServiceID.init),
      device: envelope.device.map(DeviceID.init), command: envelope.command.map(CommandID.init),
      originalTime: envelope.originalTime, event: event)
  }

  /// The time of the event by the server's checked clock. An erased payload has lost it; the result is then the
  /// recorded time.
  private static func time(of record: LogRecord) -> Timestamp {
    switch record.payload {
    case .retained(let payload), .retainedWithSalt(let payload, _):
      EventTimeField.read(from: payload) ?? record.envelope.time
    case .erased: record.envelope.time
    }
  }

  private static func event(in record: LogRecord) throws(CodecError) -> ChatEvent {
    let reader = try PayloadReader(record)
    guard let streamKind = StreamKind(rawValue: record.envelope.streamKind) else {
      throw reader.failure(.unknownKind, "stream kind \(record.envelope.streamKind)")
    }
    guard reader.kind.streamKind == streamKind else {
      throw reader.failure(.unknownKind, "\(reader.kind.name) in a stream of kind \(streamKind)")
    }
    return try reader.kind.read(reader)
  }
}

extension ChatEvent {
  /// The aggregate to which the event belongs.
  package var streamAddress: (StreamKind, UUIDBytes) {
    switch self {
    case .user(let id, _): (.user, id.uuid)
    case .room(let id, _): (.room, id.uuid)
    case .workspace(let id, _): (.workspace, id.uuid)
    case .server: (.server, .zero)
    }
  }
}
