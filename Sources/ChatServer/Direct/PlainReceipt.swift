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
    json.writeString(id.uuid.text)
    json.writeStaticString("\",\"roomId\":\"")
    json.writeString(room.uuid.text)
    json.writeStaticString("\",\"senderId\":\"")
    json.writeString(sender.uuid.text)
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
