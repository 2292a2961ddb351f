import ChatDomain
import ChatPrimitives
import Testing

@testable import ChatServer

@Suite("What an If-Match says")
struct PreconditionHeaderTests {
  @Test(
    "revisions in quotes",
    arguments: [
      ("\"41\"", [41]), ("\"41\", \"7\"", [41, 7]), ("\"41\",\"7\"", [41, 7]), (" \"41\" ,, \"7\" , ", [41, 7]),
      ("\"18446744073709551615\"", [.max]),
    ] as [(String, [UInt64])])
  func revisions(header: String, revisions: [UInt64]) {
    #expect(Precondition(ifMatch: header) == .isAt(revisions.map { LogPosition($0) }))
  }

  @Test("a star matches every existing object", arguments: ["*", " * ", "\t*"])
  func star(header: String) {
    #expect(Precondition(ifMatch: header) == .exists)
  }

  @Test(
    "a tag that names no revision matches none",
    arguments: ["W/\"41\"", "\"\"", "\"041\"", "\"+41\"", "\"-1\"", "\"a\"", "\"18446744073709551616\"", "\"4,1\""])
  func others(header: String) {
    #expect(Precondition(ifMatch: header) == .isAt([]))
    #expect(Precondition(ifMatch: "\"7\", " + header) == .isAt([LogPosition(7)]))
  }

  @Test(
    "anything else is malformed",
    arguments: [
      "", " ", ",", "41", "\"41", "41\"", "\"41\" \"7\"", "\"41\";", "\"41\", 7", "**", "*, \"41\"", "w/\"41\"",
      "\"4 1\"", "\"\u{e9}\"",
    ])
  func malformed(header: String) {
    #expect(Precondition(ifMatch: header) == nil)
  }
}
