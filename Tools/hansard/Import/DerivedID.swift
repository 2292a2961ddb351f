import ChatPrimitives
import Crypto

/// IDs that follow from the input alone, so that a second import of the same history names everything as the first.
///
/// SHA-256 over a name space, the kind of thing, and what names it; the first 16 bytes, with version 8 and variant as
/// RFC 9562 (section 5.8) has them for UUIDs of one's own making.
enum DerivedID {
  /// Changing it would make every history a new one.
  private static let namespace = "hansard import 1"

  static func user(named name: String) -> UserID { UserID(uuid(.user, Array(name.utf8))) }

  static func room(named name: String) -> RoomID { RoomID(uuid(.room, Array(name.utf8))) }

  static func message(_ line: LineIdentity) -> MessageID { MessageID(uuid(.message, line.bytes)) }

  /// The key of the join that a line is, or implies.
  static func joinKey(_ line: LineIdentity) -> CommandID { CommandID(uuid(.join, line.bytes)) }

  static func leaveKey(_ line: LineIdentity) -> CommandID { CommandID(uuid(.leave, line.bytes)) }

  private enum Thing: String {
    case user
    case room
    case message
    case join
    case leave
  }

  private static func uuid(_ thing: Thing, _ name: [UInt8]) -> UUIDBytes {
    var hash = SHA256()
    hash.update(data: Array("\(namespace)\u{0}\(thing.rawValue)\u{0}".utf8))
    hash.update(data: name)
    let digest = Array(hash.finalize().prefix(UUIDBytes.byteCount))
    let high = digest[..<8].reduce(0) { $0 << 8 | UInt64($1) }
    let low = digest[8...].reduce(0) { $0 << 8 | UInt64($1) }
    return UUIDBytes(
      high: high & ~(0xf << 12) | 8 << 12,
      low: low & ~(0b11 << 62) | 0b10 << 62)
  }
}

/// What tells one line of a history from every other: its content, and how often it stood before.
struct LineIdentity: Hashable {
  /// Content digest and occurrence.
  let bytes: [UInt8]
}

/// Counts how often each line occurs. Equal lines are different messages.
///
/// Keeps 8 bytes of each line's digest (about 16 bytes of memory a line). Should two different lines share them, the
/// later one is counted as a repetition, in every run alike; the IDs differ all the same, since they come from the whole
/// digest.
struct LineOccurrences {
  private var seen: Set<UInt64> = []
  /// How often those occurred that did so more than once.
  private var repeated: [UInt64: UInt64] = [:]

  /// Counts the line in.
  mutating func identity(of line: HistoryLine) -> LineIdentity {
    let digest = Self.digest(of: line)
    let short = digest[..<8].reduce(0) { $0 << 8 | UInt64($1) }
    var occurrence: UInt64 = 1
    if !seen.insert(short).inserted {
      occurrence = repeated[short, default: 1] + 1
      repeated[short] = occurrence
    }
    return LineIdentity(bytes: digest + Self.bytes(of: occurrence))
  }

  /// SHA-256 over the fields, each with its length before it.
  private static func digest(of line: HistoryLine) -> [UInt8] {
    var hash = SHA256()
    hash.update(data: bytes(of: UInt64(bitPattern: line.at.milliseconds)))
    for field in [line.type.rawValue, line.room, line.user, line.text] {
      hash.update(data: bytes(of: UInt64(field.utf8.count)))
      hash.update(data: Array(field.utf8))
    }
    return Array(hash.finalize())
  }

  private static func bytes(of number: UInt64) -> [UInt8] {
    withUnsafeBytes(of: number.bigEndian) { Array($0) }
  }
}
