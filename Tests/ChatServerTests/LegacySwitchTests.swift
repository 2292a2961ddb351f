import ChatProtocol
import Foundation
import HTTPTypes
import NIOCore
import Testing

@testable import ChatServer

@Suite("Switches for older apps") struct LegacySwitchTests {
  @Test("two statuses are those of older apps if the operator sets the switches")
  func legacyStatus() {
    let (on, off) = (LegacyStatus(isOn: true), LegacyStatus())
    #expect(on.status(of: "access_token_expired")?.code == 419)
    #expect(on.status(of: "refresh_token_expired")?.code == 418)
    for code in ["access_token_invalid", "session_ended", "refresh_token_reused"] {
      #expect(on.status(of: code) == nil)
    }
    #expect(off.status(of: "access_token_expired") == nil)
  }

  private struct Page: Codable {
    @Nullable var nextCursor: String?
    @Nullable var previousCursor: String?
    @Nullable var name: String?
  }

  @Test("a cursor at its end is written as the operator says; nothing else is", arguments: EndCursor.allCases)
  func endCursor(end: EndCursor) throws {
    let page = Page(nextCursor: nil, previousCursor: "c", name: nil)
    let text = try JSONBody.$endCursor.withValue(end) { try JSONBody.encode(page) }
    let found = try #require(
      try JSONSerialization.jsonObject(with: Data(text.readableBytesView)) as? [String: Any])
    #expect(found["previousCursor"] as? String == "c" && found["name"] is NSNull)
    if end == .null {
      #expect(found["nextCursor"] is NSNull)
    } else {
      #expect(found["nextCursor"] as? String == end.rawValue)
    }
  }
}
