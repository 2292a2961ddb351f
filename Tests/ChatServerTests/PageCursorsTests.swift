import ChatPrimitives
import Testing

@testable import ChatServer

@Suite struct PageCursorsTests {
  private static let log = UUIDBytes(high: 1, low: 2)
  private static let room = RoomID(UUIDBytes(high: 3, low: 4))

  private let cursors = PageCursors(.messages, of: room, in: log)

  @Test("A cursor gives back its place", arguments: [0, 1, 255, 256, 1 << 40, UInt64(Int64.max)])
  func roundTrip(place: UInt64) throws {
    #expect(try cursors.place(in: cursors.cursor(at: place)) == place)
    #expect(try cursors.position(in: cursors.cursor(at: place)) == LogPosition(place))
  }

  @Test("A place that no list has is refused", arguments: [UInt64(1) << 63, (UInt64(1) << 63) + 1, UInt64.max])
  func beyond(place: UInt64) {
    #expect(throws: Refusal.invalidCursor) { try cursors.place(in: cursors.cursor(at: place)) }
    #expect(throws: Refusal.invalidCursor) { try cursors.position(in: cursors.cursor(at: place)) }
  }

  @Test("No cursor is no position")
  func none() throws {
    #expect(try cursors.position(in: nil) == nil)
  }

  @Test("A cursor of another list, another room or another log is refused")
  func foreign() {
    let others = [
      PageCursors(.members, of: Self.room, in: Self.log), PageCursors(.rooms, of: Self.room, in: Self.log),
      PageCursors(.messages, of: RoomID(UUIDBytes(high: 3, low: 5)), in: Self.log),
      PageCursors(.messages, of: Self.room, in: UUIDBytes(high: 1, low: 3)), PageCursors(.messages, in: Self.log),
    ]
    for other in others {
      #expect(throws: Refusal.invalidCursor) { try cursors.place(in: other.cursor(at: 7)) }
    }
  }

  @Test("A malformed cursor is refused")
  func malformed() {
    let cursor = cursors.cursor(at: 7)
    for text in ["", "x", "!!!", cursor + "A", String(cursor.dropLast()), cursor + "=", "AAAAAAAAAAAAAAAA"] {
      #expect(throws: Refusal.invalidCursor) { try cursors.place(in: text) }
    }
  }
}
