import ChatPrimitives
import ChatProjections
import ChatService
import Crypto

/// The cursors of one search: of one user, for one query with its filters. Like `PageCursors`, they grant no rights:
/// the user's current memberships decide what a page shows. But a place determines how much a page has to read, so the
/// check covers the whole cursor and is made with a secret key of the server.
struct SearchCursors: Sendable {
  private static let checkBytes = 16
  /// The check, three positions, and the position and rank of the last hit.
  private static let byteCount = checkBytes + 5 * MemoryLayout<UInt64>.size
  private static let kind: UInt8 = 4

  private let key: SymmetricKey
  private let scope: [UInt8]

  /// - Parameters:
  ///   - query: the text of the query.
  ///   - log: the log's sixteen bytes.
  init(_ request: SearchRequest, query: String, in log: UUIDBytes, _ key: SymmetricKey) {
    self.key = key
    let filters = [
      request.room?.description, request.sender?.description, request.since.map { String($0.milliseconds) },
      request.until.map { String($0.milliseconds) }, request.hasMedia.map { String($0) }, request.type, query,
    ].map { $0 ?? "" }.joined(separator: "\n")
    scope = log.bytes + [Self.kind] + request.user.uuid.bytes + Array(filters.utf8)
  }

  private func check(of place: [UInt8]) -> [UInt8] {
    Array(HMAC<SHA256>.authenticationCode(for: place + scope, using: key).prefix(Self.checkBytes))
  }

  func cursor(at place: SearchPlace) -> String {
    let numbers = [
      place.bound.value, place.newest.value, place.oldest?.value ?? 0, place.after?.position.value ?? 0,
      UInt64(bitPattern: place.after?.rank ?? 0),
    ]
    let bytes = numbers.flatMap { number in withUnsafeBytes(of: number.bigEndian) { Array($0) } }
    return Base64URL.encode(check(of: bytes) + bytes)
  }

  /// - Throws: `Refusal.invalidCursor` unless it is a cursor of this search.
  func place(in cursor: String) throws(Refusal) -> SearchPlace {
    guard let bytes = Base64URL.decode(cursor, atMost: Self.byteCount), bytes.count == Self.byteCount,
      bytes.starts(with: check(of: Array(bytes.dropFirst(Self.checkBytes))))
    else { throw .invalidCursor }
    let width = MemoryLayout<UInt64>.size
    let numbers = stride(from: Self.checkBytes, to: Self.byteCount, by: width).map { start in
      bytes[start..<start + width].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    }
    // Positions are stored as signed numbers.
    guard numbers.prefix(4).allSatisfy({ $0 <= UInt64(Int64.max) }) else { throw .invalidCursor }
    let after =
      numbers[3] == 0
      ? nil : SearchHit.Order(rank: Int64(bitPattern: numbers[4]), position: LogPosition(numbers[3]))
    return SearchPlace(
      bound: LogPosition(numbers[0]), newest: LogPosition(numbers[1]),
      oldest: numbers[2] == 0 ? nil : LogPosition(numbers[2]), after: after)
  }
}
