import ChatPrimitives
import ChatService
import Testing

@testable import ChatServer

@Suite("Verified access tokens")
struct VerifiedTokenCacheSpecs {
  private static let minute: UInt64 = 60_000_000_000
  private let verified = VerifiedToken(
    principal: Principal(), issuedAt: .earliest, expiresAt: .latest, check: .once)

  @Test("are 32,768 at most")
  func count() {
    var tokens = VerifiedTokenCache()
    for number in 0..<40_000 { tokens.remember("token \(number)", verified) }
    #expect(tokens.count <= 32_768)
    let (newest, oldest) = (tokens.find("token 39999", at: 0), tokens.find("token 0", at: 0))
    #expect(newest != nil && oldest == nil)
  }

  @Test("are forgotten when nobody uses them for one to two minutes")
  func unused() {
    var tokens = VerifiedTokenCache()
    let start = 10 * Self.minute
    _ = tokens.find("", at: start)
    for token in ["used", "unused"] { tokens.remember(token, verified) }
    for minutes in 1...2 as ClosedRange<UInt64> {
      let used = tokens.find("used", at: start + minutes * Self.minute)
      #expect(used != nil && tokens.count == (minutes == 1 ? 2 : 1))
    }
    let unused = tokens.find("unused", at: start + 2 * Self.minute)
    #expect(unused == nil)
  }
}
