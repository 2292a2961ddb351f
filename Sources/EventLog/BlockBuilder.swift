package import ChatPrimitives

/// Gathers the records of one block in the form that goes to disk: one growing stretch of bytes.
package struct BlockBuilder: Sendable {
  /// When a writer should close the block and begin the next, in bytes: several LZ4 windows long, and short enough
  /// that one record is read by decoding little.
  package static let targetRawBytes = 512 * 1024
  /// What a block holds at most, in bytes; a command's events must fit, since they go into one block.
  package static let maximumRawBytes = LogFormat.maximumRawBytes

  /// The first record's position.
  package let first: LogPosition
  package private(set) var count = 0
  private(set) var raw: [UInt8] = []
  private(set) var firstTime: Timestamp?
  private(set) var lastTime: Timestamp?

  package init(first: LogPosition) {
    self.first = first
  }

  /// Where the next record will stand.
  package var next: LogPosition { first.advanced(by: count) }
  /// Bytes so far, before compression.
  package var rawBytes: Int { raw.count }
  package var isEmpty: Bool { count == 0 }

  /// Adds a record that keeps its payload.
  /// - Throws: `log_too_large` when the payload or the block would pass its limit; `log_invalid_record` for kind zero
  ///   and for a time before the record before. The builder is unchanged then.
  package mutating func append(_ envelope: RecordEnvelope, payload: [UInt8]) throws(LogError) {
    try append(envelope, form: .retained, salt: [], payload: payload)
  }

  /// Adds a record in any form, as rewriting a log after an erasure needs it.
  /// - Throws: as the other, and `log_invalid_record` for a digest or salt of the wrong length.
  package mutating func append(_ envelope: RecordEnvelope, payload: RecordPayload) throws(LogError) {
    switch payload {
    case .retained(let bytes):
      try append(envelope, form: .retained, salt: [], payload: bytes)
    case .erased(let digest):
      guard digest.count == LogFormat.digestBytes else {
        throw LogError(.invalidRecord, "A digest has \(LogFormat.digestBytes) bytes, this one \(digest.count).")
      }
      try append(envelope, form: .erased, salt: [], payload: digest)
    case .retainedWithSalt(let bytes, let salt):
      guard salt.count == LogFormat.saltBytes else {
        throw LogError(.invalidRecord, "A salt has \(LogFormat.saltBytes) bytes, this one \(salt.count).")
      }
      try append(envelope, form: .retainedWithSalt, salt: salt, payload: bytes)
    }
  }

  private mutating func append(
    _ envelope: RecordEnvelope, form: RecordPayload.Form, salt: [UInt8], payload: [UInt8]
  ) throws(LogError) {
    guard envelope.kind != 0 else { throw LogError(.invalidRecord, "Kind zero is reserved.") }
    if let lastTime, envelope.time < lastTime {
      throw LogError(
        .invalidRecord, "The record's time lies before the record before it; clamp it.",
        cause: "\(envelope.time.milliseconds) ms after \(lastTime.milliseconds) ms")
    }
    guard payload.count <= LogFormat.maximumPayloadBytes else {
      throw LogError(
        .tooLarge, "A payload has at most \(LogFormat.maximumPayloadBytes) bytes, this one \(payload.count).")
    }
    let headBytes = LogFormat.recordHeaderBytes + envelope.encodedBytes
    let total = headBytes + salt.count + payload.count
    guard raw.count + total <= Self.maximumRawBytes else {
      throw LogError(
        .tooLarge, "A block has at most \(Self.maximumRawBytes) bytes; close it and begin another.",
        cause: "\(raw.count) bytes and a record of \(total)")
    }
    withUnsafeTemporaryAllocation(
      byteCount: LogFormat.recordHeaderBytes + RecordEnvelope.maximumBytes, alignment: 8
    ) { buffer in
      let envelopeBytes = envelope.encode(into: UnsafeMutableRawBufferPointer(rebasing: buffer[8...]))
      // Both fit: the total is at most the block's limit, the envelope at most 128 bytes.
      buffer.put(UInt32(total), at: 0)
      buffer.put(form.rawValue, at: 4)
      buffer.put(UInt8(0), at: 5)
      buffer.put(UInt16(envelopeBytes), at: 6)
      raw.append(contentsOf: UnsafeRawBufferPointer(rebasing: buffer[..<headBytes]))
    }
    raw.append(contentsOf: salt)
    raw.append(contentsOf: payload)
    count += 1
    if firstTime == nil { firstTime = envelope.time }
    lastTime = envelope.time
  }
}
