package import ChatPrimitives

/// Collects the records of one block in their on-disk encoding, in one growing buffer.
package struct BlockBuilder: Sendable {
  /// The size, in bytes, at which a writer should close the block and begin the next. It is several LZ4 windows long,
  /// and short enough that reading one record decodes little.
  package static let targetRawBytes = 512 * 1024
  /// The maximum size of a block, in bytes. A command's events go into one block, so they must fit.
  package static let maximumRawBytes = LogFormat.maximumRawBytes

  /// How much memory a block gets in advance at most, in bytes. Larger blocks are rare, and grow as they are filled.
  private static let reservedBytes = 64 * 1024

  /// The first record's position.
  package let first: LogPosition
  package private(set) var count = 0
  private(set) var raw: [UInt8] = []
  private(set) var firstTime: Timestamp?
  private(set) var lastTime: Timestamp?

  package init(first: LogPosition) {
    self.first = first
  }

  /// A builder of the block that follows another one and is probably about as long.
  package init(after last: BlockBuilder) {
    first = last.next
    raw.reserveCapacity(min(last.raw.count, Self.reservedBytes))
  }

  /// The position of the next record.
  package var next: LogPosition { first.advanced(by: count) }
  /// The size so far, before compression, in bytes.
  package var rawBytes: Int { raw.count }
  package var isEmpty: Bool { count == 0 }

  /// Adds a record with its payload.
  /// - Throws: `log_too_large` if the payload or the block would exceed its limit; `log_invalid_record` if the kind is
  ///   zero or the time is earlier than that of the previous record. The builder is then unchanged.
  package mutating func append(_ envelope: RecordEnvelope, payload: [UInt8]) throws(LogError) {
    try append(envelope, form: .retained, salt: [], payload: payload)
  }

  /// Adds a record whose payload has any form. Rewriting a log after an erasure needs this.
  /// - Throws: the errors of the other `append`, and `log_invalid_record` for a digest or salt of the wrong length.
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
      // Both numbers fit: the total is at most the block's limit, and the envelope has at most 128 bytes.
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
