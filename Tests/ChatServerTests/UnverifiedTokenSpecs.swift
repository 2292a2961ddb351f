import ChatService
import Testing

@testable import ChatServer

@Suite("An unverified token")
struct UnverifiedTokenSpecs {
  private static func encoded(_ text: String) -> String {
    Base64URL.encode(Array(text.utf8))
  }

  /// A token whose decoded header has `headerBytes` bytes.
  private static func token(headerBytes: Int) -> String {
    let header = #"{"alg":"EdDSA","x":""#
    let padding = String(repeating: "a", count: headerBytes - header.utf8.count - 2)
    return "\(encoded(header + padding + "\"}")).\(encoded("{}")).AA"
  }

  /// A token of `bytes` bytes.
  private static func token(bytes: Int) -> String {
    let start = token(headerBytes: 100)
    return start + String(repeating: "A", count: bytes - start.utf8.count)
  }

  @Test("has a header of 1,024 bytes at most", arguments: [(1_024, true), (1_025, false)])
  func header(bytes: Int, isRead: Bool) {
    #expect((UnverifiedToken(Self.token(headerBytes: bytes)) != nil) == isRead)
  }

  @Test("has 16 KiB at most", arguments: [(16 * 1024, true), (16 * 1024 + 1, false)])
  func whole(bytes: Int, isRead: Bool) {
    #expect((UnverifiedToken(Self.token(bytes: bytes)) != nil) == isRead)
  }

  @Test(
    "is refused beyond the limits of JSON: length of names, depth, combining marks, duplicates",
    arguments: [
      (#"{"alg":"EdDSA"}"#, #"{"iss":"a"}"#, true),
      (#"{"alg":"EdDSA"}"#, #"{"\#(String(repeating: "a", count: 1_025))":1}"#, false),
      (#"{"alg":"EdDSA"}"#, String(repeating: "[", count: 65) + String(repeating: "]", count: 65), false),
      (#"{"alg":"EdDSA"}"#, #"{"iss":"\#("a" + String(repeating: "\u{301}", count: 31))"}"#, false),
      (#"{"alg":"EdDSA","alg":"none"}"#, "{}", false),
    ])
  func contents(header: String, claims: String, isRead: Bool) {
    let token = "\(Self.encoded(header)).\(Self.encoded(claims)).AA"
    #expect((UnverifiedToken(token) != nil) == isRead)
  }
}
