import Testing

@testable import ChatServer

@Suite("A bearer token")
struct BearerTokenSpecs {
  @Test(
    "may have any visible ASCII character, and its scheme any case", arguments: ["Bearer ", "bearer ", "BEARER  "])
  func accepted(scheme: String) throws {
    let visible = String(decoding: UInt8(ascii: "!")...UInt8(ascii: "~"), as: UTF8.self)
    #expect(try BearerToken.token(in: scheme + visible) == visible)
  }

  @Test(
    "is refused if it is empty, has another scheme or has characters other than visible ASCII",
    arguments: [
      "", "Bearer", "Bearer ", "Basic a", "a", " Bearer a", "Bearer a b", "Bearer a ", "Bearer\ta", "Bearer a\t",
      "Bearer a\u{7f}", "Bearer \u{e9}",
    ])
  func refused(header: String) {
    #expect(throws: Refusal.accessTokenInvalid) { try BearerToken.token(in: header) }
  }

  @Test("is refused if its bytes differ from a valid token that Swift calls equal")
  func equalText() {
    let (own, other) = ("K", "\u{212a}")
    #expect(own == other && !own.utf8.elementsEqual(other.utf8))
    #expect(throws: Refusal.accessTokenInvalid) { try BearerToken.token(in: "Bearer " + other) }
  }
}
