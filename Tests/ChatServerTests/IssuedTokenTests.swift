import ChatPrimitives
import Foundation
import JWTKit
import Logging
import Testing

@testable import ChatServer

/// Tokens of an issuer with real keys, which are checked with the keys that it publishes in a file.
@Suite("Tokens of other issuers") struct IssuedTokenTests {
  private static let now = Timestamp(milliseconds: 1_800_000_000_000)
  private static let seconds = 1_800_000_000.0

  private func claims(_ change: (inout IssuedClaims) -> Void = { _ in }) -> IssuedClaims {
    var claims = IssuedClaims(
      iss: "https://id.example.org", sub: "s", aud: Audience(["app"]), exp: Self.seconds + 100, nbf: nil,
      iat: Self.seconds - 1, nonce: nil, name: nil, nickname: nil)
    change(&claims)
    return claims
  }

  private let issuer = TrustedIssuer(
    issuer: "https://id.example.org", audiences: ["app", "other"], keys: .file("/nowhere"),
    algorithms: Set(SignatureAlgorithm.allCases))

  private func flaw(_ change: (inout IssuedClaims) -> Void) -> TokenFlaw? {
    do throws(TokenFlaw) {
      try TokenVerifier.check(claims(change), of: issuer, at: Self.now)
      return nil
    } catch {
      return error
    }
  }

  @Test("claims are held against the issuer's settings")
  func claimsOfIssuer() {
    #expect(flaw { _ in } == nil)
    #expect(flaw { $0.iss = "https://id.example.org/" } == .issuer)
    #expect(flaw { $0.iss = "https://ID.example.org" } == .issuer)
    #expect(flaw { $0.aud = Audience([]) } == .audience)
    #expect(flaw { $0.aud = Audience(["ap"]) } == .audience)
    #expect(flaw { $0.aud = Audience(["x", "other"]) } == nil)
    #expect(flaw { $0.sub = "" } == .subject)
    #expect(flaw { $0.sub = "a\u{0}" } == .subject)
    #expect(flaw { $0.sub = String(repeating: "s", count: 256) } == nil)
    #expect(flaw { $0.sub = String(repeating: "s", count: 257) } == .subject)
  }

  @Test("times are held against the clock, with a minute's leeway")
  func times() {
    #expect(flaw { $0.exp = Self.seconds - 59.9 } == nil)
    #expect(flaw { $0.exp = Self.seconds - 60 } == .expired)
    #expect(flaw { $0.exp = -.infinity } == .expired)
    #expect(flaw { $0.exp = .nan } == .expired)
    #expect(flaw { $0.nbf = Self.seconds + 60 } == nil)
    #expect(flaw { $0.nbf = Self.seconds + 60.1 } == .notYetValid)
    #expect(flaw { $0.iat = Self.seconds + 60.1 } == .notYetValid)
    #expect(flaw { $0.iat = .infinity } == .notYetValid)
    #expect(flaw { $0.iat = nil } == nil)
  }

  @Test("a nonce counts as it is or as its SHA-256, as the setting says, and is needed when the token has one")
  func nonce() {
    // The SHA-256 of "abc", from FIPS 180-2, appendix B.1.
    let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    let cases: [(String?, String?, NonceForm, Bool)] = [
      ("abc", "abc", .plain, true), ("abc", digest, .plain, false), (digest, digest, .plain, true),
      ("abc", digest, .sha256, true), ("abc", "abc", .sha256, false), (digest, digest, .sha256, false),
      ("abc", digest.uppercased(), .sha256, false), ("abd", digest, .sha256, false), ("abc", nil, .plain, false),
      (nil, "abc", .plain, false), (nil, digest, .sha256, false), (nil, nil, .plain, true), (nil, nil, .sha256, true),
      ("", "", .plain, false), (nil, "", .plain, false),
    ]
    for (given, held, form, isGood) in cases {
      let found: TokenFlaw?
      do throws(TokenFlaw) {
        try TokenVerifier.check(nonce: given, in: claims { $0.nonce = held }, as: form)
        found = nil
      } catch {
        found = error
      }
      #expect(found == (isGood ? nil : .nonce), "\(given ?? "-") \(held ?? "-") \(form)")
    }
  }

  @Test("an audience is a text or a list, and an empty list is nobody")
  func audiences() throws {
    func decoded(_ json: String) throws -> [String] {
      try JSONDecoder().decode(Audience.self, from: Data(json.utf8)).values
    }
    #expect(try decoded("\"a\"") == ["a"])
    #expect(try decoded("[\"a\", \"b\"]") == ["a", "b"])
    #expect(try decoded("[]").isEmpty)
    #expect(throws: DecodingError.self) { try decoded("1") }
  }

  @Test("keys are bound to the algorithm that they are for; others are left out")
  func publishedKeys() async throws {
    let ed = try EdDSA.PrivateKey()
    let x = Base64URLText.of(ed)
    let json = """
      {"keys": [
        {"kty": "oct", "kid": "a", "k": "c2VjcmV0"}, {"kty": 1}, "nonsense",
        {"kty": "OKP", "crv": "Ed25519", "kid": "b", "x": "\(x)"},
        {"kty": "OKP", "crv": "Ed25519", "kid": "c", "x": "\(x)", "use": "enc"},
        {"kty": "OKP", "crv": "Ed25519", "kid": "d", "x": "\(x)", "alg": "RS256"},
        {"kty": "OKP", "crv": "X25519", "kid": "e", "x": "\(x)"},
        {"kty": "EC", "crv": "P-384", "kid": "f", "x": "\(x)", "y": "\(x)"},
        {"kty": "RSA", "kid": "g", "n": "\(x)", "e": "AQAB"}
      ]}
      """
    let keys = try await PublishedKeys(json: Data(json.utf8))
    #expect(keys.keys.map(\.id) == ["b"])
    #expect(keys.key("b", for: .edDSA) != nil && keys.key(nil, for: .edDSA) != nil)
    #expect(keys.key("b", for: .rs256) == nil && keys.key("a", for: .edDSA) == nil)
    await #expect(throws: DecodingError.self) { _ = try await PublishedKeys(json: Data("[]".utf8)) }
  }

  @Test("a token without a key's name means the only key there is")
  func unnamedKey() async throws {
    let (first, second) = (try EdDSA.PrivateKey(), try EdDSA.PrivateKey())
    let one = "{\"kty\": \"OKP\", \"crv\": \"Ed25519\", \"x\": \"\(Base64URLText.of(first))\"}"
    let two = "{\"kty\": \"OKP\", \"crv\": \"Ed25519\", \"x\": \"\(Base64URLText.of(second))\"}"
    #expect(try await PublishedKeys(json: Data("{\"keys\": [\(one)]}".utf8)).key(nil, for: .edDSA) != nil)
    #expect(try await PublishedKeys(json: Data("{\"keys\": [\(one), \(two)]}".utf8)).key(nil, for: .edDSA) == nil)
  }

  @Test("a token is taken from a file's keys, and a forged one is not")
  func signatures() async throws {
    let key = try EdDSA.PrivateKey()
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("keys-\(UUID())").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    let jwk = "{\"kty\": \"OKP\", \"crv\": \"Ed25519\", \"kid\": \"1\", \"x\": \"\(Base64URLText.of(key))\"}"
    try Data("{\"keys\": [\(jwk)]}".utf8).write(to: URL(fileURLWithPath: path))
    let fetcher = KeySetFetcher(limit: .seconds(60))
    var trusted = issuer
    trusted.keys = .file(path)
    let verifier = TokenVerifier(trusted, fetcher: fetcher, logger: Logger(label: "test"))

    func sign(_ key: EdDSA.PrivateKey, _ kid: String) async throws -> String {
      let collection = JWTKeyCollection()
      await collection.add(eddsa: key, kid: JWKIdentifier(string: kid))
      return try await collection.sign(claims(), kid: JWKIdentifier(string: kid))
    }
    func flaw(of token: String) async throws -> TokenFlaw? {
      let unverified = try #require(UnverifiedToken(token))
      do {
        _ = try await verifier.verify(token, unverified, at: Self.now)
        return nil
      } catch let flaw as TokenFlaw {
        return flaw
      }
    }
    let good = try await sign(key, "1")
    #expect(try await flaw(of: good) == nil)
    #expect(try await flaw(of: try await sign(try EdDSA.PrivateKey(), "1")) == .signature)
    #expect(try await flaw(of: try await sign(key, "2")) == .unknownKey)
    var parts = good.split(separator: ".").map(String.init)
    parts[0] = Base64URLText.of(#"{"alg":"none","kid":"1"}"#)
    #expect(try await flaw(of: parts.joined(separator: ".")) == .algorithm)
    parts[0] = Base64URLText.of(#"{"alg":"HS256","kid":"1"}"#)
    #expect(try await flaw(of: parts.joined(separator: ".")) == .algorithm)
    parts[0] = Base64URLText.of(#"{"alg":"ES256","kid":"1"}"#)
    #expect(try await flaw(of: parts.joined(separator: ".")) == .unknownKey)
    parts[0] = Base64URLText.of(#"{"alg":"EdDSA","kid":"1","crit":[]}"#)
    #expect(try await flaw(of: parts.joined(separator: ".")) == .algorithm)
    await fetcher.close()
  }
}

private enum Base64URLText {
  static func of(_ text: String) -> String { of(Data(text.utf8)) }

  static func of(_ key: EdDSA.PrivateKey) -> String { of(key.publicKey.rawRepresentation) }

  static func of(_ data: Data) -> String {
    data.base64EncodedString().replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
      .replacingOccurrences(of: "=", with: "")
  }
}
