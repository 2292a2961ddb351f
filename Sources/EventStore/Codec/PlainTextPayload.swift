/// The payload of a message that has only text, written without Protocol Buffers, because most events are such messages, and
/// the writer's thread encodes them. The bytes are the same: the field 1 of `MessageSent`, a string.
enum PlainTextPayload {
  /// The tag 1 << 3 | 2 (Protocol Buffers, "Encoding").
  private static let tag: UInt8 = 0x0a
  /// The most bytes of a length as a varint, which has 7 bits in each.
  private static let longestLength = 10

  static func encoded(_ text: String) -> [UInt8] {
    var text = text
    return text.withUTF8 { utf8 in
      // A field with its default value is not written.
      guard !utf8.isEmpty else { return [] }
      return [UInt8](unsafeUninitializedCapacity: 1 + longestLength + utf8.count) { payload, count in
        payload[0] = tag
        count = 1
        var length = utf8.count
        while length >= 0x80 {
          payload[count] = UInt8(truncatingIfNeeded: length) | 0x80
          length >>= 7
          count += 1
        }
        payload[count] = UInt8(truncatingIfNeeded: length)
        count += 1
        _ = UnsafeMutableBufferPointer(rebasing: payload[count...]).initialize(from: utf8)
        count += utf8.count
      }
    }
  }
}
