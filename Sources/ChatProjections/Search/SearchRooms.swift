import ChatPrimitives
import GRDB

/// The rooms that a search covers: all rooms of the user, or one of them. Each is looked up when a hit in it is found,
/// so a search costs the same however many rooms the user is in.
final class SearchRooms {
  /// The index is queried for at most this many rooms. With more, it is queried for all rooms, and each hit is checked.
  static let labelledRooms = 256

  private let database: Database
  private let user: UserID
  private let only: RoomID?
  /// The rooms looked up so far, by their number in this file. The value is nil if the search does not cover the room.
  private var known: [Int64: RoomID?] = [:]
  /// The numbers of all of them; nil if there are more than `labelledRooms`.
  let labels: [Int64]?

  init(_ database: Database, of user: UserID, only: RoomID?) throws {
    self.database = database
    self.user = user
    self.only = only
    let numbers =
      if let only {
        try CachedStatement(
          database, "SELECT room FROM room CROSS JOIN member ON room = number AND userId = ? WHERE id = ?"
        ).all(user, only) { try $0.number() }
      } else {
        try CachedStatement(
          database, "SELECT room FROM member CROSS JOIN room ON number = room WHERE userId = ? ORDER BY room LIMIT ?"
        ).all(user, Self.labelledRooms + 1) { try $0.number() }
      }
    labels = numbers.count <= Self.labelledRooms ? numbers : nil
  }

  var isEmpty: Bool { labels?.isEmpty == true }

  /// Nil if the search does not cover the room.
  func room(_ number: Int64) throws -> RoomID? {
    if let known = known[number] { return known }
    let room = try CachedStatement(
      database, "SELECT id FROM member CROSS JOIN room ON number = room WHERE userId = ? AND room = ?"
    ).first(user, number) { try $0.id(RoomID.self) }
    let covered = room.flatMap { only == nil || $0 == only ? $0 : nil }
    known[number] = .some(covered)
    return covered
  }
}
