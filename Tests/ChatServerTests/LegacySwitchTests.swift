import ChatDomain
import ChatProtocol
import ChatService
import Foundation
import HTTPTypes
import NIOCore
import Testing

@testable import ChatServer

@Suite("Switches for older apps") struct LegacySwitchTests {
  @Test("two statuses are those of older apps if the operator sets the switches")
  func legacyStatus() {
    let (on, off) = (LegacyStatus(isOn: true), LegacyStatus())
    let refresh = Endpoints.refreshSession.path
    let expired = ProblemMapping(Refusal.accessTokenExpired)
    #expect(on.status(of: expired, on: "/v1/me")?.code == 419)
    let refusals: [any Error] = [
      Refusal.refreshTokenInvalid, ServiceError.rejected(.refreshTokenExpired),
      ServiceError.rejected(.refreshTokenReused), ServiceError.rejected(.sessionEnded),
    ]
    for refusal in refusals {
      #expect(on.status(of: ProblemMapping(refusal), on: refresh)?.code == 418)
      #expect(off.status(of: ProblemMapping(refusal), on: refresh) == nil)
      #expect(on.status(of: ProblemMapping(refusal), on: "/v1/me") == nil)
    }
    let disabled = ProblemMapping(ServiceError.rejected(.accountDisabled))
    #expect(on.status(of: disabled, on: refresh)?.code == 418)
    #expect(on.status(of: disabled, on: "/v1/me") == nil)
    #expect(off.status(of: disabled, on: refresh) == nil)
    #expect(on.status(of: ProblemMapping(Refusal.invalidJSON(.empty)), on: refresh) == nil)
    #expect(on.status(of: ProblemMapping(Refusal.accessTokenInvalid), on: "/v1/me") == nil)
    #expect(off.status(of: expired, on: "/v1/me") == nil)
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
