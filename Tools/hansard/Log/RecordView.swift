import ChatDomain
import ChatPrimitives
import EventLog
import EventStore

/// All fields of one record that can be shown.
struct RecordView {
  let fields: [(String, JSONValue)]

  /// Creates the view of a record that is in a block of the log.
  init(_ record: LogRecord, in block: Block) {
    let stored: [(String, JSONValue)] = [
      ("payload", Self.form(of: record.payload)),
      ("payloadBytes", .count(record.payload.retained?.count ?? 0)),
      ("rawBytes", .count(record.rawBytes)),
      ("segment", .text(block.segment)),
      ("blockOffset", .number(block.offset)),
    ]
    fields =
      Self.fields(of: record.envelope, at: record.position) + stored + [("detail", Self.detail(of: record))]
  }

  /// Creates the view of the record in a verified proof. It does not show where the log stores the record.
  init(_ proof: InclusionProof) {
    let envelope = proof.record.envelope
    var shown: [(String, JSONValue)] = [
      ("payload", .text("not shown")),
      ("detail", .text("not shown: the payload was erased, or can contain a secret")),
    ]
    if let payload = proof.record.opening?.payload {
      let record = LogRecord(position: proof.position, envelope: envelope, payload: .retained(payload))
      shown = [
        ("payload", .text("shown")),
        ("payloadBytes", .count(payload.count)),
        ("detail", Self.detail(of: record)),
      ]
    }
    fields = Self.fields(of: envelope, at: proof.position) + shown
  }

  /// The fields that are known without the payload.
  private static func fields(of envelope: RecordEnvelope, at position: LogPosition) -> [(String, JSONValue)] {
    let kind = EventKind(number: envelope.kind)
    let streamKind = StreamKind(rawValue: envelope.streamKind)
    return [
      ("position", .number(position.value)),
      ("type", .text(kind?.name ?? "unknown")),
      ("kind", .number(UInt64(envelope.kind))),
      ("payloadVersion", .number(UInt64(envelope.payloadVersion))),
      ("streamKind", .text(streamKind?.shownName ?? String(envelope.streamKind))),
      ("stream", .text(envelope.stream.text)),
      ("streamVersion", .number(envelope.streamVersion.value)),
      ("time", .text(envelope.time.rfc3339)),
      ("originalTime", .text(orNull: envelope.originalTime?.rfc3339)),
      ("actor", .text(orNull: envelope.actor?.text)),
      ("service", .text(orNull: envelope.service?.text)),
      ("device", .text(orNull: envelope.device?.text)),
      ("subject", .text(orNull: envelope.subject?.text)),
      ("command", .text(orNull: envelope.command?.text)),
    ]
  }

  private static func form(of payload: RecordPayload) -> JSONValue {
    switch payload {
    case .retained: .text("retained")
    case .erased: .text("erased")
    case .retainedWithSalt: .text("retained with its own salt")
    }
  }

  /// The content of the payload, or why it cannot be read.
  private static func detail(of record: LogRecord) -> JSONValue {
    do {
      return .object(try EventCodec.decode(record).event.shownFields)
    } catch {
      return .object([("unreadable", .text(error.description))])
    }
  }
}

/// The fields of one block.
struct BlockView {
  let fields: [(String, JSONValue)]

  init(_ block: Block) {
    let times = (block.records.first?.envelope.time, block.records.last?.envelope.time)
    fields = [
      ("segment", .text(block.segment)),
      ("offset", .number(block.offset)),
      ("first", .number(block.first.value)),
      ("last", .number(block.last.value)),
      ("records", .count(block.records.count)),
      ("codec", .text(String(describing: block.codec))),
      ("storedBytes", .count(block.storedBytes)),
      ("rawBytes", .count(block.rawBytes)),
      ("compressionRatio", .decimal(Double(block.rawBytes) / Double(max(block.storedBytes, 1)))),
      ("firstTime", .text(orNull: times.0?.rfc3339)),
      ("lastTime", .text(orNull: times.1?.rfc3339)),
    ]
  }
}

extension StreamKind {
  fileprivate var shownName: String {
    switch self {
    case .user: "user"
    case .room: "room"
    case .workspace: "workspace"
    case .server: "server"
    }
  }
}
