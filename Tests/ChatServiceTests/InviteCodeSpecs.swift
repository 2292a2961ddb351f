import ChatDomain
import ChatPrimitives
import Testing

@testable import ChatService

@Suite("Codes of invites")
struct InviteCodeSpecs {
  private let secrets = InviteSecrets(ServerKeys(secret: Array(repeating: 1, count: 32)))
  private let invite: InviteID = ID(UUIDBytes(high: 1, low: 2))
  private let room: RoomID = ID(UUIDBytes(high: 3, low: 4))

  @Test("have twelve characters of the alphabet, in groups, and depend on the key, the space and the invite")
  func form() {
    let code = secrets.code(for: invite, of: room)
    #expect(code == secrets.code(for: invite, of: room))
    #expect(code.description.wholeMatch(of: /([0-9A-HJKMNP-TV-Z]{4}-){2}[0-9A-HJKMNP-TV-Z]{4}/) != nil)
    let other = InviteSecrets(ServerKeys(secret: Array(repeating: 2, count: 32)))
    let codes = [
      code, secrets.code(for: ID(UUIDBytes(high: 1, low: 3)), of: room),
      secrets.code(for: invite, of: RoomID(UUIDBytes(high: 3, low: 5))),
      secrets.code(for: invite, of: WorkspaceID(room.uuid)), other.code(for: invite, of: room),
    ]
    #expect(Set(codes).count == codes.count)
    #expect(secrets.hash(of: .code(code)) != other.hash(of: .code(code)), "the hash is keyed")
  }

  @Test("use the first sixty bits, the highest first")
  func bits() {
    #expect(InviteCode([0, 0, 0, 0, 0, 0, 0, 15]).description == "0000-0000-0000")
    #expect(InviteCode([0, 0, 0, 0, 0, 0, 0, 16]).description == "0000-0000-0001")
    #expect(InviteCode([0xF8, 0, 0, 0, 0, 0, 0, 0]).description == "Z000-0000-0000")
    #expect(InviteCode([0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1]).description == "ZZZZ-ZZZZ-ZZZZ")
  }

  @Test(
    "are read as people type them",
    arguments: [
      "01AB-CDEF-GHJK", "01ABCDEFGHJK", "01ab cdef ghjk", " 0lab-cdef-ghjk\n", "oIAB-CDEF-GHJK",
      "0-1-A-B-C-D-E-F-G-H-J-K",
      "01AB\u{2011}CDEF\u{2013}GHJK", "01AB\u{A0}CDEF\u{A0}GHJK",
    ])
  func typed(text: String) {
    #expect(InviteCode(typed: text)?.description == "01AB-CDEF-GHJK")
  }

  @Test(
    "are nothing else",
    arguments: [
      "", "-", "01AB-CDEF-GHJ", "01AB-CDEF-GHJKM", "01AB-CDEF-GHJU", "01AB-CDEF-GHJ!", "01AB-CDEF-GHJ\u{212A}",
      "01AB_CDEF_GHJK", "01AB-CDEF-GHJK" + String(repeating: " ", count: 51),
    ])
  func others(text: String) {
    #expect(InviteCode(typed: text) == nil)
    #expect(InviteSecret(text) == .token(text))
  }

  @Test("are no tokens")
  func tokens() {
    let token = secrets.token(for: invite, of: room)
    #expect(InviteSecret(token) == .token(token))
    let code = secrets.code(for: invite, of: room)
    #expect(InviteSecret(code.description) == .code(code))
  }
}
