import ChatPrimitives
import GRDB

/// Assigns ordinals to messages. A message's event does not contain its ordinal, because the ordinal is the number of
/// messages in the room up to it. Reads a room's last ordinal once per batch and writes it once, to the `room` table of
/// the file.
struct OrdinalCounter {
  private struct Room {
    var last: UInt64
    var isChanged: Bool
  }

  private let database: Database
  /// The value is nil for a room that is known not to exist.
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

  /// Call this after inserting the row of a new room with ordinal zero.
  mutating func noteCreated(_ room: RoomID) { rooms[room] = Room(last: 0, isChanged: false) }

  /// Call this after deleting a room's row.
  mutating func noteDeleted(_ room: RoomID) { rooms[room] = .some(nil) }

  /// - Returns: nil if the room does not exist.
  mutating func next(in room: RoomID) throws -> UInt64? {
    // One lookup for a known room, because every message gets its ordinal here.
    var index = rooms.index(forKey: room)
    if index == nil {
      _ = try exists(room)
      index = rooms.index(forKey: room)
    }
    guard let index, let last = rooms.values[index]?.last else { return nil }
    rooms.values[index] = Room(last: last + 1, isChanged: true)
    return last + 1
  }

  func flush() throws {
    let statement = try CachedStatement(database, "UPDATE room SET lastOrdinal = ? WHERE id = ?")
    for case (let id, let room?) in rooms where room.isChanged {
      try statement.run(room.last, id)
    }
  }
}
