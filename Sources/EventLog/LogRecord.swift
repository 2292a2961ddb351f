package import ChatPrimitives

/// The payload of a record, or what remains of it.
package enum RecordPayload: Sendable, Hashable {
  case retained([UInt8])
  /// The payload was erased; the SHA-256 digest of salt and payload replaces it.
  case erased(digest: [UInt8])
  /// The payload of a record whose author's key was erased; the record carries its own salt.
  case retainedWithSalt([UInt8], salt: [UInt8])
}

/// One record and its position in the log.
package struct LogRecord: Sendable, Hashable {
  package var position: LogPosition
  package var envelope: RecordEnvelope
  package var payload: RecordPayload

  package init(position: LogPosition, envelope: RecordEnvelope, payload: RecordPayload) {
    self.position = position
    self.envelope = envelope
    self.payload = payload
  }

  /// Whether the record registers the user who owns its stream; see `docs/log-format.md`, "The tree".
  package var isRegistration: Bool { envelope.kind == 1 && envelope.streamKind == 1 }

  /// The length of the record in its block before compression, in bytes.
  package var rawBytes: Int {
    LogFormat.recordHeaderBytes + envelope.encodedBytes + payload.encodedBytes
  }
}

// MARK: - Bytes

extension RecordPayload {
  /// The byte that says which form the payload has.
  enum Form: UInt8 {
    case retained = 0
    case erased = 1
    case retainedWithSalt = 2

    /// The length of what the form stores besides a payload, in bytes.
    var extraBytes: Int {
      switch self {
      case .retained: 0
      case .erased: LogFormat.digestBytes
      case .retainedWithSalt: LogFormat.saltBytes
      }
    }
  }

  var form: Form {
    switch self {
    case .retained: .retained
    case .erased: .erased
    case .retainedWithSalt: .retainedWithSalt
    }
  }

  /// The payload; nil if it was erased.
  package var retained: [UInt8]? {
    switch self {
    case .retained(let payload), .retainedWithSalt(let payload, _): payload
    case .erased: nil
    }
  }

  var encodedBytes: Int {
    switch self {
    case .retained(let payload): payload.count
    case .erased(let digest): digest.count
    case .retainedWithSalt(let payload, let salt): payload.count + salt.count
    }
  }

  init(parsing bytes: RawSpan, form: Form) throws(FormatFlaw) {
    switch form {
    case .retained:
      guard bytes.byteCount <= LogFormat.maximumPayloadBytes,
        let payload = bytes.array(at: 0, count: bytes.byteCount)
      else { throw FormatFlaw("the payload is longer than \(LogFormat.maximumPayloadBytes) bytes") }
      self = .retained(payload)
    case .erased:
      guard bytes.byteCount == LogFormat.digestBytes, let digest = bytes.array(at: 0, count: LogFormat.digestBytes)
      else { throw FormatFlaw("an erased record must contain a digest of \(LogFormat.digestBytes) bytes") }
      self = .erased(digest: digest)
    case .retainedWithSalt:
      let payloadBytes = bytes.byteCount - LogFormat.saltBytes
      guard payloadBytes <= LogFormat.maximumPayloadBytes,
        let salt = bytes.array(at: 0, count: LogFormat.saltBytes),
        let payload = bytes.array(at: LogFormat.saltBytes, count: payloadBytes)
      else { throw FormatFlaw("a record with its own salt is shorter than that, or its payload too long") }
      self = .retainedWithSalt(payload, salt: salt)
    }
  }
}

extension LogRecord {
  /// The length of the shortest record, in bytes.
  static let minimumBytes = LogFormat.recordHeaderBytes + RecordEnvelope.fixedBytes

  /// Parses a block's records; `raw` must hold exactly `count` of them.
  static func parseAll(_ raw: RawSpan, first: LogPosition, count: Int) throws(FormatFlaw) -> [LogRecord] {
    guard count >= 0, count <= raw.byteCount / minimumBytes else {
      throw FormatFlaw("\(count) records do not fit into \(raw.byteCount) bytes")
    }
    var records: [LogRecord] = []
    records.reserveCapacity(count)
    var offset = 0
    for index in 0..<count {
      do {
        let (length, envelope, payload) = try parseOne(raw, at: offset)
        records.append(LogRecord(position: first.advanced(by: index), envelope: envelope, payload: payload))
        offset += length
      } catch {
        throw FormatFlaw("record \(index) of the block: \(error.reason)", kind: error.kind)
      }
    }
    guard offset == raw.byteCount else { throw FormatFlaw("bytes follow the last record of the block") }
    return records
  }

  private static func parseOne(
    _ raw: RawSpan, at offset: Int
  ) throws(FormatFlaw) -> (length: Int, envelope: RecordEnvelope, payload: RecordPayload) {
    guard let total = raw.integer(at: offset, as: UInt32.self),
      let formByte = raw.integer(at: offset + 4, as: UInt8.self),
      let reserved = raw.integer(at: offset + 5, as: UInt8.self),
      let envelopeLength = raw.integer(at: offset + 6, as: UInt16.self)
    else { throw FormatFlaw("it is too short for its header") }
    let length = Int(total)
    let envelopeBytes = Int(envelopeLength)
    guard length >= minimumBytes, length <= raw.byteCount - offset else {
      throw FormatFlaw("its length \(length) is not within its block")
    }
    guard envelopeBytes <= RecordEnvelope.maximumBytes, LogFormat.recordHeaderBytes + envelopeBytes <= length else {
      throw FormatFlaw("its envelope's length \(envelopeBytes) is not within the record")
    }
    guard let form = RecordPayload.Form(rawValue: formByte), reserved == 0 else {
      throw FormatFlaw("its payload form \(formByte) is unknown")
    }
    let envelopeStart = offset + LogFormat.recordHeaderBytes
    let payloadStart = envelopeStart + envelopeBytes
    let envelope = try RecordEnvelope(parsing: raw.extracting(envelopeStart..<payloadStart))
    let payload = try RecordPayload(parsing: raw.extracting(payloadStart..<offset + length), form: form)
    return (length, envelope, payload)
  }
}
