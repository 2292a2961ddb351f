import ChatPrimitives

/// The properties that records of the same sort share. A block lists each of its shapes once.
struct RecordShape: Hashable {
  /// Length of the encoding, in bytes.
  static let byteCount = 8

  var form: RecordPayload.Form
  var kind: UInt16
  var payloadVersion: UInt8
  var streamKind: UInt8
  var presence: UInt16
  var wrapping: PayloadWrapping

  init(_ record: LogRecord, wrapping: PayloadWrapping) {
    form = record.payload.form
    kind = record.envelope.kind
    payloadVersion = record.envelope.payloadVersion
    streamKind = record.envelope.streamKind
    presence = record.envelope.presence
    self.wrapping = wrapping
  }

  func append(to bytes: inout [UInt8]) {
    bytes.append(form.rawValue)
    bytes.append(UInt8(truncatingIfNeeded: kind))
    bytes.append(UInt8(truncatingIfNeeded: kind >> 8))
    bytes.append(payloadVersion)
    bytes.append(streamKind)
    bytes.append(UInt8(truncatingIfNeeded: presence))
    bytes.append(UInt8(truncatingIfNeeded: presence >> 8))
    bytes.append(wrapping.tag)
  }

  /// Reads a shape from the front of the column.
  init(parsing column: inout ByteCursor) throws(FormatFlaw) {
    let bytes = try column.array(Self.byteCount)
    let formByte = bytes[0]
    let kind = UInt16(bytes[1]) | UInt16(bytes[2]) << 8
    let presence = UInt16(bytes[5]) | UInt16(bytes[6]) << 8
    let tag = bytes[7]
    guard let form = RecordPayload.Form(rawValue: formByte) else {
      throw FormatFlaw("a shape has the unknown payload form \(formByte)")
    }
    guard kind != 0, RecordEnvelope.knows(presence: presence) else {
      throw FormatFlaw("a shape has kind \(kind) and presence \(presence)")
    }
    guard let wrapping = PayloadWrapping(tag: tag), form != .erased || wrapping == .none else {
      throw FormatFlaw("a shape has the wrapping \(tag)")
    }
    self.form = form
    self.kind = kind
    payloadVersion = bytes[3]
    streamKind = bytes[4]
    self.presence = presence
    self.wrapping = wrapping
  }
}

/// The tag of a payload that consists of a single Protocol Buffers field. Its column then omits the tag and the length.
struct PayloadWrapping: Hashable {
  /// The field's tag byte (field number below 16, wire type 2); zero if the payload is stored unchanged.
  let tag: UInt8

  static let none = PayloadWrapping(uncheckedTag: 0)

  private init(uncheckedTag tag: UInt8) {
    self.tag = tag
  }

  init?(tag: UInt8) {
    guard tag == 0 || tag & 0x87 == 0x02 else { return nil }
    self.tag = tag
  }

  /// How a payload is wrapped, and the offset at which its content begins.
  static func of(_ payload: [UInt8]) -> (wrapping: PayloadWrapping, contentStart: Int) {
    guard payload.count >= 2, payload[0] != 0, let wrapping = PayloadWrapping(tag: payload[0]) else {
      return (.none, 0)
    }
    var cursor = ByteCursor(payload, from: 1)
    guard let length = try? cursor.variable(), length == UInt64(cursor.remaining) else { return (.none, 0) }
    return (wrapping, cursor.offset)
  }

  /// Restores the payload from its content.
  func wrap(_ content: ByteCursor) -> [UInt8] {
    var payload: [UInt8] = []
    payload.reserveCapacity(wrappedBytes(content.remaining))
    if tag != 0 {
      payload.append(tag)
      payload.append(variable: content.remaining)
    }
    content.withRemaining { payload.append(contentsOf: $0) }
    return payload
  }

  /// The length of the payload with this content, in bytes.
  func wrappedBytes(_ content: Int) -> Int {
    tag == 0 ? content : content + 1 + VariableInteger.count(UInt64(content))
  }
}
