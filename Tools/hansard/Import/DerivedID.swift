import ChatPrimitives
import Crypto

/// IDs derived from the input alone, so that a second import of the same history uses the same IDs.
///
/// Each ID is a SHA-256 hash of a namespace, the kind of entity and its name. If there is a time that fits, the ID is a
/// UUID version 7 (RFC 9562, section 5.7) and begins with it, so that IDs of similar times are close together in every
/// index. Otherwise the ID is a version 8 (section 5.8) and consists of the hash alone.
enum DerivedID {
  /// Changing this would change all IDs, and a second import would then duplicate the history.
  private static let namespace = "hansard import 1"

  static func user(named name: String) -> UserID { UserID(uuid(.user, Array(name.utf8), at: nil)) }

  static func room(named name: String) -> RoomID { RoomID(uuid(.room, Array(name.utf8), at: nil)) }

  static func message(_ line: LineIdentity) -> MessageID { MessageID(uuid(.message, line.bytes, at: line.at)) }

  /// The key of the join that the line is or implies.
  static func joinKey(_ line: LineIdentity) -> CommandID { CommandID(uuid(.join, line.bytes, at: line.at)) }

  static func leaveKey(_ line: LineIdentity) -> CommandID { CommandID(uuid(.leave, line.bytes, at: line.at)) }

  private enum Kind: String {
    case user
    case room
    case message
    case join
    case leave
  }

  /// The times that fit into version 7: 48 bits of milliseconds since 1970.
  private static let times: Range<Int64> = 0..<1 << 48

  private static func uuid(_ kind: Kind, _ name: [UInt8], at time: Timestamp?) -> UUIDBytes {
    var hash = SHA256()
    hash.update(data: Array("\(namespace)\u{0}\(kind.rawValue)\u{0}".utf8))
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

/// Identifies one line of a history by its content and the number of its occurrence.
struct LineIdentity: Hashable {
  /// The digest of the content, then the number of the occurrence.
  let bytes: [UInt8]
  /// The time in the line.
  let at: Timestamp
}

/// Counts how often each line occurs. Equal lines are different messages.
///
/// Keeps 8 bytes of each line's digest (about 16 bytes of memory per line). If two different lines have the same 8
/// bytes, the later one is counted as a repetition, in every run. Their IDs still differ because they are derived from
/// the whole digest.
struct LineOccurrences {
  private var seen: Set<UInt64> = []
  /// The number of occurrences of each line that occurred more than once.
  private var repeated: [UInt64: UInt64] = [:]

  /// Counts the line and returns its identity.
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

  /// The SHA-256 hash of the fields. The length of each text comes before it.
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
