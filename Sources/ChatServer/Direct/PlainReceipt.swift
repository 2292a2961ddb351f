import ChatPrimitives
import ChatService
import NIOCore

/// The receipt for a message that has only a text, as JSON. It is written without an encoder, and equals what the encoder
/// writes.
enum PlainReceipt {
  /// The names, the punctuation, the IDs, the time and the numbers, at most.
  private static let fixedBytes = 320

  /// - Parameter text: must have no character that JSON escapes.
  static func json(
    text: String, as id: MessageID, in room: RoomID, by sender: UserID, at position: LogPosition, _ sentAt: Timestamp
  ) -> ByteBuffer {
    var json = ByteBufferAllocator().buffer(capacity: fixedBytes + text.utf8.count)
    json.writeStaticString("{\"id\":\"")
    json.write(id.uuid)
    json.writeStaticString("\",\"roomId\":\"")
    json.write(room.uuid)
    json.writeStaticString("\",\"senderId\":\"")
    json.write(sender.uuid)
    json.writeStaticString("\",\"text\":\"")
    json.writeString(text)
    json.writeStaticString("\",\"sentAt\":\"")
    json.writeString(sentAt.rfc3339)
    json.writeStaticString("\",\"position\":")
    let position = String(position.value)
    json.writeString(position)
    json.writeStaticString(",\"revision\":")
    json.writeString(position)
    json.writeStaticString(",\"editedAt\":null,\"deletedAt\":null}")
    return json
  }
}

extension ByteBuffer {
  /// Writes the textual form in lower case.
  fileprivate mutating func write(_ uuid: UUIDBytes) {
    writeWithUnsafeMutableBytes(minimumWritableBytes: UUIDBytes.textLength) { bytes in
      var index = 0
      for digit in 0..<32 {
        if digit == 8 || digit == 12 || digit == 16 || digit == 20 {
          bytes[index] = UInt8(ascii: "-")
          index += 1
        }
        let word = digit < 16 ? uuid.high : uuid.low
        let nibble = UInt8(truncatingIfNeeded: word >> (60 - UInt64(digit % 16) * 4)) & 0xf
        bytes[index] = nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "a") + nibble - 10
        index += 1
      }
      return index
    }
  }
}
