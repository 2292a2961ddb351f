import ChatPrimitives

/// The time of an event, stored in its payload if the record's envelope cannot hold it. Recorded time never decreases,
/// so after the clock was ahead, it stays ahead until real time catches up.
///
/// Every payload can have this field, always as the last one (`Schema/events.proto`, "any payload"): number 1000,
/// `sfixed64`. It is read and written without the schema. A reader that does not know the field skips it.
enum EventTimeField {
  /// The tag 1000 << 3 | 1 as a varint (Protocol Buffers, "Encoding").
  private static let tag: [UInt8] = [0xc1, 0x3e]
  static let byteCount = tag.count + 8

  static func append(_ time: Timestamp, to payload: inout [UInt8]) {
    payload.append(contentsOf: tag)
    withUnsafeBytes(of: time.milliseconds.littleEndian) { payload.append(contentsOf: $0) }
  }

  /// - Returns: nil if the payload does not end with the field.
  static func read(from payload: [UInt8]) -> Timestamp? {
    let start = payload.count - byteCount
    // Almost every payload fails this cheap check.
    guard start >= 0, payload[start..<start + tag.count].elementsEqual(tag) else { return nil }
    guard beginsField(at: start, in: payload) else { return nil }
    let value = payload[(start + tag.count)...].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return Timestamp(milliseconds: Int64(bitPattern: value))
  }

  private enum WireType: UInt64 {
    case varint = 0
    case eightBytes = 1
    case counted = 2
    case fourBytes = 5
  }

  /// Whether a field of the message starts at this offset, so that the tag is not inside another field.
  private static func beginsField(at wanted: Int, in bytes: [UInt8]) -> Bool {
    var offset = 0
    while offset < wanted {
      guard let tag = varint(bytes, at: &offset) else { return false }
      // Groups, which no schema of this project uses, and unknown types end the search.
      guard let wireType = WireType(rawValue: tag & 7) else { return false }
      switch wireType {
      case .varint:
        guard varint(bytes, at: &offset) != nil else { return false }
      case .eightBytes: offset += 8
      case .fourBytes: offset += 4
      case .counted:
        guard let length = varint(bytes, at: &offset), length <= UInt64(bytes.count - offset) else { return false }
        // The length is at most that of the payload.
        offset += Int(length)
      }
    }
    return offset == wanted
  }

  /// Reads an unsigned LEB128 number of at most 64 bits and moves past it.
  private static func varint(_ bytes: [UInt8], at offset: inout Int) -> UInt64? {
    var value: UInt64 = 0
    for shift in stride(from: UInt64(0), through: 63, by: 7) {
      guard offset < bytes.count else { return nil }
      let byte = bytes[offset]
      offset += 1
      guard shift < 63 || byte <= 1 else { return nil }
      value |= UInt64(byte & 0x7f) << shift
      if byte & 0x80 == 0 { return value }
    }
    return nil
  }
}
