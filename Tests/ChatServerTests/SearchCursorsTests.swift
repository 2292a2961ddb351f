import ChatPrimitives
import ChatProjections
import ChatService
import Crypto
import Testing

@testable import ChatServer

@Suite struct SearchCursorsTests {
  private static let log = UUIDBytes(high: 1, low: 2)
  private static let user = UserID(UUIDBytes(high: 3, low: 4))
  private static let key = SymmetricKey(data: [UInt8](repeating: 1, count: 32))

  private func request(_ change: (inout SearchRequest) -> Void = { _ in }) throws -> SearchRequest {
    var request = SearchRequest(words: try #require(SearchWords("tea")), user: Self.user)
    change(&request)
    return request
  }

  @Test("A cursor gives back its place")
  func roundTrip() throws {
    let cursors = SearchCursors(try request(), query: "tea", in: Self.log, Self.key)
    let orders = [
      nil, SearchHit.Order(rank: -7, position: LogPosition(5)), .init(rank: .max, position: LogPosition(1)),
    ]
    for after in orders {
      for oldest in [nil, LogPosition(3)] {
        let place = SearchPlace(bound: LogPosition(1 << 40), newest: LogPosition(9), oldest: oldest, after: after)
        #expect(try cursors.place(in: cursors.cursor(at: place)) == place)
      }
    }
  }

  @Test("A cursor of another user, query, filter or log is refused, and so is what is no cursor")
  func foreign() throws {
    let cursors = SearchCursors(try request(), query: "tea", in: Self.log, Self.key)
    let place = SearchPlace(bound: LogPosition(9), newest: LogPosition(9), oldest: nil, after: nil)
    let other = UserID(UUIDBytes(high: 3, low: 5))
    let room = RoomID(UUIDBytes(high: 3, low: 4))
    let others = [
      SearchCursors(try request { $0.user = other }, query: "tea", in: Self.log, Self.key),
      SearchCursors(try request { $0.room = room }, query: "tea", in: Self.log, Self.key),
      SearchCursors(try request { $0.sender = Self.user }, query: "tea", in: Self.log, Self.key),
      SearchCursors(try request { $0.since = Timestamp(milliseconds: 1) }, query: "tea", in: Self.log, Self.key),
      SearchCursors(try request { $0.until = Timestamp(milliseconds: 1) }, query: "tea", in: Self.log, Self.key),
      SearchCursors(try request { $0.hasMedia = false }, query: "tea", in: Self.log, Self.key),
      SearchCursors(try request(), query: "teas", in: Self.log, Self.key),
      SearchCursors(try request(), query: "tea", in: UUIDBytes(high: 1, low: 3), Self.key),
      SearchCursors(try request(), query: "tea", in: Self.log, SymmetricKey(data: [UInt8](repeating: 2, count: 32))),
    ]
    for other in others {
      #expect(throws: Refusal.invalidCursor) { try cursors.place(in: other.cursor(at: place)) }
    }
    let cursor = cursors.cursor(at: place)
    for text in ["", "x", "!", cursor + "A", String(cursor.dropLast(2)), cursor + "AAAA"] {
      #expect(throws: Refusal.invalidCursor) { try cursors.place(in: text) }
    }
    let beyond = SearchPlace(bound: LogPosition(.max), newest: LogPosition(9), oldest: nil, after: nil)
    #expect(throws: Refusal.invalidCursor) { try cursors.place(in: cursors.cursor(at: beyond)) }
  }

  @Test("A cursor of which anything was changed is refused")
  func changed() throws {
    let cursors = SearchCursors(try request(), query: "tea", in: Self.log, Self.key)
    let place = SearchPlace(bound: LogPosition(900), newest: LogPosition(800), oldest: LogPosition(700), after: nil)
    let bytes = try #require(Base64URL.decode(cursors.cursor(at: place), atMost: 1_000))
    for index in bytes.indices {
      var changed = bytes
      changed[index] ^= 1
      #expect(throws: Refusal.invalidCursor, "byte \(index)") { try cursors.place(in: Base64URL.encode(changed)) }
    }
  }
}
