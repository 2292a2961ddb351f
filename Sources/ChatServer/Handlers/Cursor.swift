import ChatPrimitives
import ChatService

/// What a client passes back to go on: opaque to it. Holds what kind of list it belongs to and a place in it.
enum Cursor {
  enum Kind: UInt8 {
    case rooms = 1
    case members = 2
    case messages = 3
  }

  static func encode(_ kind: Kind, _ place: UInt64) -> String {
    Base64URL.encode([kind.rawValue] + withUnsafeBytes(of: place.bigEndian) { Array($0) })
  }

  /// - Returns: nil unless it is a cursor of that kind.
  static func decode(_ kind: Kind, _ text: String) -> UInt64? {
    guard let bytes = Base64URL.decode(text), bytes.count == 9, bytes[0] == kind.rawValue else { return nil }
    return bytes[1...].reduce(0) { $0 << 8 | UInt64($1) }
  }

  static func position(_ kind: Kind, _ text: String?) throws -> LogPosition? {
    guard let text else { return nil }
    guard let place = decode(kind, text) else { throw Refusal.invalidCursor }
    return LogPosition(place)
  }
}
