import ChatPrimitives
import GRDB

/// Gives messages their ordinals: what a message's event does not say, because it is a count of the room's messages
/// before it. Reads a room's last ordinal once in a batch and writes it once, into the `room` table of its file.
struct OrdinalCounter {
  private struct Room {
    var last: UInt64
    var isChanged: Bool
  }

  private let database: Database
  /// nil for a room that is known not to exist.
  private var rooms: [RoomID: Room?] = [:]

  init(_ database: Database) {
    self.database = database
  }

  mutating func exists(_ room: RoomID) throws -> Bool {
    if let known = rooms[room] { return known != nil }
    let last = try CachedStatement(database, "SELECT lastOrdinal FROM room WHERE id = ?")
      .first(room) { try $0.unsigned() }
    rooms[room] = .some(last.map { Room(last: $0, isChanged: false) })
    return last != nil
  }

  /// A room whose row the caller has just made, with ordinal zero.
  mutating func noteCreated(_ room: RoomID) { rooms[room] = Room(last: 0, isChanged: false) }

  /// A room whose row the caller has just taken out.
  mutating func noteDeleted(_ room: RoomID) { rooms[room] = .some(nil) }

  /// - Returns: nil where there is no such room.
  mutating func next(in room: RoomID) throws -> UInt64? {
    guard try exists(room), let last = rooms[room]??.last else { return nil }
    rooms[room] = Room(last: last + 1, isChanged: true)
    return last + 1
  }

  func flush() throws {
    let statement = try CachedStatement(database, "UPDATE room SET lastOrdinal = ? WHERE id = ?")
    for case (let id, let room?) in rooms where room.isChanged {
      try statement.run(room.last, id)
    }
  }
}
