import ChatPrimitives
import Testing

@testable import ChatService

@Suite("Signed URLs of files")
struct MediaSignatureSpecs {
  private let signatures = MediaSignatures(ServerKeys(secret: Array(repeating: 1, count: 32)))
  private let media = MediaID(UUIDBytes(high: 1, low: 1))
  private let user = UserID(UUIDBytes(high: 2, low: 2))
  private let session = SessionID(UUIDBytes(high: 3, low: 3))
  private let time = Timestamp(milliseconds: 1_800_000_000_000)

  private func grant(width: Int? = nil, session: SessionID? = nil) -> MediaGrant {
    MediaGrant(media: media, width: width, user: user, session: session, expiresAt: time)
  }

  @Test("a signature gives back its grant, with and without a session and a width")
  func whole() {
    for width in [nil, 1, 320, 1920] {
      for session in [nil, session] {
        let grant = grant(width: width, session: session)
        let signature = signatures.signature(for: grant)
        #expect(signatures.grant(in: signature, for: media, width: width) == grant)
        #expect(signatures.signature(for: grant) == signature)
        #expect(
          signature.utf8.allSatisfy {
            "-_".utf8.contains($0) || Character(Unicode.Scalar($0)).isLetter || Character(Unicode.Scalar($0)).isNumber
          })
      }
    }
  }

  @Test("a signature is valid only for its file, its width and the key of its server")
  func bound() {
    let signature = signatures.signature(for: grant(width: 320, session: session))
    #expect(signatures.grant(in: signature, for: MediaID(UUIDBytes(high: 1, low: 2)), width: 320) == nil)
    for width in [nil, 319, 321, 80] { #expect(signatures.grant(in: signature, for: media, width: width) == nil) }
    let others = MediaSignatures(ServerKeys(secret: Array(repeating: 2, count: 32)))
    #expect(others.grant(in: signature, for: media, width: 320) == nil)
  }

  @Test("a signature that was altered or cut anywhere is refused")
  func altered() throws {
    let signature = signatures.signature(for: grant(session: session))
    for length in 0..<signature.count {
      #expect(signatures.grant(in: String(signature.prefix(length)), for: media, width: nil) == nil)
    }
    #expect(signatures.grant(in: signature + "A", for: media, width: nil) == nil)
    #expect(signatures.grant(in: signature + "=", for: media, width: nil) == nil)
    let bytes = try #require(Base64URL.decode(signature, atMost: 1_000))
    for index in bytes.indices {
      var forged = bytes
      forged[index] ^= 1
      #expect(signatures.grant(in: Base64URL.encode(forged), for: media, width: nil) == nil)
    }
  }

  @Test("a URL is the same within a period, and is valid for one to two periods")
  func expiry() {
    let period = Limits.signedURLMilliseconds
    for now in [-period - 1, -period, -1, 0, 1, period - 1, period, 1_800_000_000_123] as [Int64] {
      let expiry = MediaSignatures.expiry(at: Timestamp(milliseconds: now)).milliseconds
      #expect(expiry % period == 0 && expiry - now > period && expiry - now <= 2 * period)
    }
    let begin = 1_800_000_000_000 / period * period
    let same = [begin, begin + 1, begin + period - 1].map { MediaSignatures.expiry(at: Timestamp(milliseconds: $0)) }
    #expect(Set(same).count == 1)
    #expect(MediaSignatures.expiry(at: Timestamp(milliseconds: begin + period)) != same[0])
  }
}
