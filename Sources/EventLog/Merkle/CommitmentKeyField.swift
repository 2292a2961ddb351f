/// Reads the commitment key from the payload of a registration: field 5 of a Protocol Buffers message. It does so
/// without the schema, because the log knows nothing else about its payloads.
enum CommitmentKeyField {
  private static let number: UInt64 = 5
  /// The highest field number; Protocol Buffers, "Encoding".
  private static let maximumNumber: UInt64 = 1 << 29 - 1

  /// - Returns: nil if the payload is not a message, or if its field 5 (the last one if it repeats) is not 32 bytes
  ///   long.
  static func read(from payload: [UInt8]) -> CommitmentKey? {
    let bytes = payload.span.bytes
    var offset = 0
    var found: CommitmentKey?
    while offset < bytes.byteCount {
      guard let tag = varint(bytes, at: &offset), (1...maximumNumber).contains(tag >> 3) else { return nil }
      switch tag & 7 {
      case 0:
        guard varint(bytes, at: &offset) != nil else { return nil }
      case 1: offset += 8
      case 5: offset += 4
      case 2:
        guard let length = varint(bytes, at: &offset), length <= UInt64(bytes.byteCount - offset) else { return nil }
        // The length is at most that of the payload.
        let count = Int(length)
        if tag >> 3 == number {
          found = bytes.array(at: offset, count: count).flatMap { CommitmentKey(bytes: $0) }
        }
        offset += count
      default:
        // Groups, which no schema of this project uses, and unknown types.
        return nil
      }
    }
    return offset == bytes.byteCount ? found : nil
  }

  /// Reads an unsigned LEB128 number of at most 64 bits and moves past it.
  private static func varint(_ bytes: RawSpan, at offset: inout Int) -> UInt64? {
    var value: UInt64 = 0
    for shift in stride(from: UInt64(0), through: 63, by: 7) {
      guard let byte = bytes.integer(at: offset, as: UInt8.self) else { return nil }
      offset += 1
      guard shift < 63 || byte <= 1 else { return nil }
      value |= UInt64(byte & 0x7f) << shift
      if byte & 0x80 == 0 { return value }
    }
    return nil
  }
}
