import ChatPrimitives
import ChatProtocol
import NIOCore

/// The most common line of an ingest: a message with only a text, without escapes. It is read without a JSON decoder.
enum PlainLine {
  /// - Returns: nil for every other line, valid or not.
  static func message(in line: ByteBuffer) -> IngestLine? {
    var op = false
    var user: UserID?
    var id: ID<Entity>?
    var room: RoomID?
    var text: String?
    let isPlain = PlainJSON.readMembers(of: line) { name, value in
      if name.equals("op") {
        guard !op else { return false }
        op = value.equals("message.send")
        return op
      }
      if name.equals("as") { return set(&user, ID(ascii: value)) }
      if name.equals("id") { return set(&id, ID(ascii: value)) }
      if name.equals("roomId") { return set(&room, ID(ascii: value)) }
      if name.equals("text") { return set(&text, PlainJSON.text(value)) }
      return false
    }
    guard isPlain, op else { return nil }
    return IngestLine(op: "message.send", as: user, id: id, roomId: room, text: text)
  }

  /// Sets a field that the line has not had yet.
  /// - Returns: false if it is there twice, or invalid.
  private static func set<Value>(_ field: inout Value?, _ value: Value?) -> Bool {
    guard field == nil, let value else { return false }
    field = value
    return true
  }
}
