import ChatDomain
import ChatPrimitives
import EventLog
import EventStore

/// One record as the audit shows it.
struct AuditRow {
  let envelope: RecordEnvelope
  let position: LogPosition
  /// The name of the event kind.
  let type: String
  let detail: [(String, JSONValue)]

  /// - Throws: `CodecError` if this version cannot read the record.
  init(_ record: LogRecord) throws(CodecError) {
    let recorded = try EventCodec.decode(record)
    envelope = record.envelope
    position = record.position
    type = EventKind(number: record.envelope.kind)?.name ?? String(record.envelope.kind)
    // The event time is earlier than the recorded time if the server's clock was ahead earlier and was then corrected.
    let isEarlier = recorded.stamp.time < record.envelope.time
    detail =
      recorded.event.shownFields + (isEarlier ? [("eventTime", .text(recorded.stamp.time.rfc3339))] : [])
  }

  /// The aggregate's ID. Nil for the server's own stream, which has none.
  var stream: String? { envelope.stream == .zero ? nil : envelope.stream.text }

  /// All fields, in the order of the `jsonl` and `csv` formats.
  var fields: [(String, JSONValue)] {
    [
      ("position", .number(position.value)),
      ("time", .text(envelope.time.rfc3339)),
      ("originalTime", .text(orNull: envelope.originalTime?.rfc3339)),
      ("type", .text(type)),
      ("stream", .text(orNull: stream)),
      ("actor", .text(orNull: envelope.actor?.text)),
      ("service", .text(orNull: envelope.service?.text)),
      ("device", .text(orNull: envelope.device?.text)),
      ("subject", .text(orNull: envelope.subject?.text)),
      ("command", .text(orNull: envelope.command?.text)),
      ("detail", .object(detail)),
    ]
  }
}
