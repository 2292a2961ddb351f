import ChatProjections
import ProcessorTime
import Testing

@testable import ChatService

@Suite("An e-mail address that is too long")
struct EmailLengthTests {
  @Test("is not normalised to look it up")
  func lookup() async throws {
    // Each pair of marks is in the wrong order, so that normalising has to sort them all.
    let email = "e" + String(repeating: "\u{315}\u{300}", count: 4_000) + "@example.org"
    let normalising = ProcessorTime.spent { _ = EmailForm.compared(email) }
    let fixture = try await ServiceFixture()
    let lookup = try await fixture.chat.accounts { accounts in
      try ProcessorTime.spent { _ = try accounts.user(email: email) }
    }
    #expect(lookup * 10 < normalising)
    try fixture.close()
  }
}
