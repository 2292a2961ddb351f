import ChatPrimitives
import Crypto

/// IDs that follow from the input alone, so that a second import of the same history names everything as the first.
///
/// SHA-256 over a name space, the kind of thing, and what names it. What has a time gets it in front, as version 7 of
/// RFC 9562 (section 5.7) has it, so that IDs of one time stand near each other in every index; the rest is the hash.
/// What has none is of version 8 (section 5.8), all hash.
enum DerivedID {
  /// Changing it would make every history a new one.
  private static let namespace = "hansard import 1"

  static func user(named name: String) -> UserID { UserID(uuid(.user, Array(name.utf8), at: nil)) }

  static func room(named name: String) -> RoomID { RoomID(uuid(.room, Array(name.utf8), at: nil)) }

  static func message(_ line: LineIdentity) -> MessageID { MessageID(uuid(.message, line.bytes, at: line.at)) }

  /// The key of the join that a line is, or implies.
  static func joinKey(_ line: LineIdentity) -> CommandID { CommandID(uuid(.join, line.bytes, at: line.at)) }

  static func leaveKey(_ line: LineIdentity) -> CommandID { CommandID(uuid(.leave, line.bytes, at: line.at)) }

  private enum Thing: String {
    case user
    case room
    case message
    case join
    case leave
  }

  /// Milliseconds since 1970 that version 7 has room for.
  private static let times: Range<Int64> = 0..<1 << 48

  private static func uuid(_ thing: Thing, _ name: [UInt8], at time: Timestamp?) -> UUIDBytes {
    var hash = SHA256()
    hash.update(data: Array("\(namespace)\u{0}\(thing.rawValue)\u{0}".utf8))
    hash.update(data: name)
    let digest = Array(hash.finalize().prefix(UUIDBytes.byteCount))
    var high = digest[..<8].reduce(0) { $0 << 8 | UInt64($1) }
    let low = digest[8...].reduce(0) { $0 << 8 | UInt64($1) }
    var version: UInt64 = 8
    if let time, times.contains(time.milliseconds) {
      version = 7
      high = high & 0xffff | UInt64(bitPattern: time.milliseconds) << 16
    }
    return UUIDBytes(
      high: high & ~(0xf << 12) | version << 12,
      low: low & ~(0b11 << 62) | 0b10 << 62)
  }
}

/// What tells one line of a history from every other: its content, and how often it stood before.
struct LineIdentity: Hashable {
  /// Content digest and occurrence.
  let bytes: [UInt8]
  /// When it was said.
  let at: Timestamp
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
    return LineIdentity(bytes: digest + Self.bytes(of: occurrence), at: line.at)
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
