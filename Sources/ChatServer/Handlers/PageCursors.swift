import ChatPrimitives
import ChatService
import Crypto

/// The cursors of one list, which clients send back to get the next page. They are opaque to clients. Each contains a
/// place and a check, which detects a cursor of another list, another room or user, or another log.
struct PageCursors: Sendable {
  enum Kind: UInt8 {
    case rooms = 1
    case members = 2
    case messages = 3
    case workspaces = 4
    case workspaceMembers = 5
    case channels = 6
    case invitations = 7
    case ownInvitations = 8
    case bans = 9
    case joinHistory = 10
    case thread = 11
    case threads = 12
    case reactions = 13
    case history = 14
    case receipts = 15
    case scheduled = 16
    case invites = 17
    case workspaceInvites = 18
    case archivedRooms = 19
    case pins = 20
    case scheduledInRoom = 21
    case blockedUsers = 22
    case reports = 23
    case workspaceReports = 24
    case allReports = 25
    case badgeRooms = 26
    case erasures = 27
    case legalHolds = 28
    case hiddenRooms = 29
  }

  /// Enough to notice a mistake. The check is not a secret, because a cursor grants no rights.
  private static let checkBytes = 4
  private static let placeBytes = MemoryLayout<UInt64>.size

  private let check: [UInt8]

  /// - Parameters:
  ///   - scope: the user, room or workspace whose list it is.
  ///   - log: the log's sixteen bytes.
  init<Entity>(_ kind: Kind, of scope: ID<Entity>, in log: UUIDBytes) {
    self.init(kind, scope.uuid.bytes, log)
  }

  /// The cursors of a list that belongs to a message of a room.
  init(_ kind: Kind, of message: MessageID, in room: RoomID, _ log: UUIDBytes) {
    self.init(kind, room.uuid.bytes + message.uuid.bytes, log)
  }

  /// The cursors of a list of the whole server.
  init(_ kind: Kind, in log: UUIDBytes) {
    self.init(kind, UUIDBytes.zero.bytes, log)
  }

  private init(_ kind: Kind, _ scope: [UInt8], _ log: UUIDBytes) {
    check = Array(SHA256.hash(data: log.bytes + [kind.rawValue] + scope).prefix(Self.checkBytes))
  }

  func cursor(at places: UInt64...) -> String {
    Base64URL.encode(check + places.flatMap { place in withUnsafeBytes(of: place.bigEndian) { Array($0) } })
  }

  /// - Throws: `Refusal.invalidCursor` unless it is a cursor of this list.
  func place(in cursor: String) throws(Refusal) -> UInt64 {
    try places(1, in: cursor)[0]
  }

  /// As `place`, for a cursor that contains two places.
  func places(in cursor: String) throws(Refusal) -> (UInt64, UInt64) {
    let places = try places(2, in: cursor)
    return (places[0], places[1])
  }

  private func places(_ count: Int, in cursor: String) throws(Refusal) -> [UInt64] {
    let byteCount = Self.checkBytes + count * Self.placeBytes
    guard let bytes = Base64URL.decode(cursor, atMost: byteCount), bytes.count == byteCount, bytes.starts(with: check)
    else { throw .invalidCursor }
    let places = stride(from: Self.checkBytes, to: bytes.count, by: Self.placeBytes).map { start in
      bytes[start..<start + Self.placeBytes].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    }
    // SQLite's integers are signed, so no cursor that the server made contains a larger number.
    guard places.allSatisfy({ $0 <= UInt64(Int64.max) }) else { throw .invalidCursor }
    return places
  }

  func position(in cursor: String?) throws(Refusal) -> LogPosition? {
    guard let cursor else { return nil }
    return LogPosition(try place(in: cursor))
  }
}
