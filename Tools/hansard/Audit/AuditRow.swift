import ChatDomain
import ChatPrimitives
import EventLog
import EventStore

/// One record as an auditor sees it.
struct AuditRow {
  let envelope: RecordEnvelope
  let position: LogPosition
  /// The name of the kind.
  let type: String
  let detail: [(String, JSONValue)]

  /// - Throws: `CodecError` for a record that this version cannot read.
  init(_ record: LogRecord) throws(CodecError) {
    let recorded = try EventCodec.decode(record)
    envelope = record.envelope
    position = record.position
    type = EventKind(number: record.envelope.kind)?.name ?? String(record.envelope.kind)
    // Earlier than the recorded time after the server's clock was ahead.
    let isEarlier = recorded.stamp.time < record.envelope.time
    detail =
      recorded.event.shownFields + (isEarlier ? [("eventTime", .text(recorded.stamp.time.rfc3339))] : [])
  }

  /// The aggregate's ID; nil for the server's own stream, which has none.
  var stream: String? { envelope.stream == .zero ? nil : envelope.stream.text }

  /// Every field, in the order that `jsonl` and `csv` share.
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
