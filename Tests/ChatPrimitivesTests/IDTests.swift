import ChatPrimitives
import Foundation
import Testing

@Suite("IDs and positions")
struct IDTests {
  private let text = "01234567-89ab-cdef-fedc-ba9876543210"

  @Test("an ID is a UUID in any case, but not the nil UUID")
  func form() {
    #expect(UserID(text.uppercased())?.description == text)
    #expect(UserID("00000000-0000-0000-0000-000000000000") == nil)
    #expect(UserID("x") == nil)
  }

  @Test("an ID is a string in JSON, and a bad one is refused")
  func json() throws {
    let decoded = try JSONDecoder().decode([RoomID].self, from: Data("[\"\(text.uppercased())\"]".utf8))
    #expect(decoded.map(\.description) == [text])
    #expect(String(decoding: try JSONEncoder().encode(decoded), as: UTF8.self) == "[\"\(text)\"]")
    for bad in ["[\"x\"]", "[1]", "[\"00000000-0000-0000-0000-000000000000\"]"] {
      #expect(throws: DecodingError.self) { try JSONDecoder().decode([RoomID].self, from: Data(bad.utf8)) }
    }
  }

  @Test("positions are dense from 1 and numbers in JSON")
  func positions() throws {
    #expect(LogPosition.origin.next == .first)
    #expect(LogPosition.first.advanced(by: 9) == LogPosition(10))
    #expect(LogPosition(10).distance(from: .first) == 9)
    #expect(LogPosition.first.distance(from: LogPosition(10)) == 0)
    #expect(LogPosition(9) < LogPosition(10))
    #expect(LogPosition(10).description == "10")
    let largest = LogPosition(.max)
    #expect(try JSONDecoder().decode(LogPosition.self, from: try JSONEncoder().encode(largest)) == largest)
    #expect(StreamVersion.none.next == StreamVersion(1))
    #expect(StreamVersion.none < StreamVersion(1))
  }
}
