import ChatDomain
import ChatPrimitives
import Foundation
import ProcessorTime
import Testing

@testable import ChatService

/// No account can have such a password, so the server must refuse it before any expensive step.
@Suite("A password that is too long")
struct PasswordLengthTests {
  /// Lengths in bytes, and whether they are too long.
  static let lengths: [(Int, Bool)] = [
    (Limits.passwordBytes - 1, false), (Limits.passwordBytes, false), (Limits.passwordBytes + 1, true),
  ]

  @Test("is not normalised", arguments: lengths)
  func normalising(bytes: Int, isTooLong: Bool) {
    // In NFKC, the ligature is two letters.
    let rest = String(repeating: "x", count: bytes - "\u{fb01}".utf8.count)
    let (password, normalised) = ("\u{fb01}" + rest, "fi" + rest)
    #expect(password.utf8.count == bytes)
    #expect(PasswordRules.prepared(password) == Array((isTooLong ? password : normalised).utf8))
  }

  @Test("is refused by its length alone, before it is even copied")
  func checking() {
    let password = "e" + String(repeating: "\u{301}", count: 500_000)
    let normalising = ProcessorTime.spent { _ = password.precomposedStringWithCompatibilityMapping }
    let checking = ProcessorTime.spent { _ = try? PasswordRules.check(password, email: nil, nickname: "Anna") }
    // A copy costs about one fifteenth of normalising.
    #expect(checking * 50 < normalising)
  }

  @Test("is not hashed, whatever it is sent for", arguments: lengths)
  func hashing(bytes: Int, isTooLong: Bool) async throws {
    // scrypt rejects this cost parameter, so hashing a password throws an error that is not a `Rejection`.
    let fixture = try await ServiceFixture(passwordLogRounds: 0)
    let chat = fixture.chat
    let password = String(repeating: "x", count: bytes)
    let refused = await rejection {
      _ = try await chat.startSession(
        .given(fixed(2)), as: .email("anna@example.org"), password: password, device: nil)
    }
    #expect(refused == (isTooLong ? .credentialsRejected : nil))
    let credential = Credential(version: 1, hash: [], logRounds: 0, blockSize: 8, parallelism: 1)
    let isRight = try? await chat.isPassword(password, of: fixed(1), credential)
    #expect(isRight == (isTooLong ? false : nil))
    try fixture.close()
  }

  @Test("with too many combining marks in a row is not normalised", arguments: [0, 1])
  func marks(more: Int) {
    let password = "e" + String(repeating: "\u{301}", count: Limits.combiningMarks + more)
    #expect((PasswordRules.prepared(password) == Array(password.utf8)) == (more > 0))
  }
}
