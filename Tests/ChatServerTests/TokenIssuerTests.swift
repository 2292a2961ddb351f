import ChatDomain
import ChatPrimitives
import Testing

@testable import ChatServer
@testable import ChatService

@Suite struct TokenIssuerTests {
  private static let issuedSeconds: Int64 = 1_700_000_000
  private static let lifetimeSeconds = 900

  private static let grant = SessionGrant(
    user: UserID(UUIDBytes(high: 1, low: 1)), profile: Profile(nickname: "Anna"),
    session: SessionID(UUIDBytes(high: 2, low: 2)), device: DeviceID(UUIDBytes(high: 3, low: 3)), generation: 4,
    stamp: Stamp(position: LogPosition(5), time: Timestamp(milliseconds: issuedSeconds * 1000 + 999)), isNew: true)

  /// - Parameter rotations: The positions at which the signing key was rotated, one second apart.
  private func issuer(
    secret: UInt8 = 1, lifetimeSeconds: Int = lifetimeSeconds, rotations: [UInt64] = []
  ) async throws -> TokenIssuer {
    let keys = ServerKeys(secret: Array(repeating: secret, count: 32))
    var history = SigningKeyHistory()
    for (index, position) in rotations.enumerated() {
      let time = Timestamp(milliseconds: (Self.issuedSeconds + Int64(index)) * 1000 + 999)
      history.rotate(to: UInt32(index) + 2, at: Stamp(position: LogPosition(position), time: time))
    }
    return TokenIssuer(
      keys: keys, signingKeys: SigningKeys(keys: keys, history: history), accessTokenLifetimeSeconds: lifetimeSeconds)
  }

  @Test("A pair from before a rotation is made with the old key, and stays valid")
  func rotation() async throws {
    let old = try await issuer().accessToken(for: Self.grant)
    let rotated = try await issuer(rotations: [6])
    #expect(try await rotated.accessToken(for: Self.grant) == old)
    _ = try await rotated.verify(accessToken: old)
    var newer = Self.grant
    newer.stamp = Stamp(position: LogPosition(7), time: newer.stamp.time)
    let token = try await rotated.accessToken(for: newer)
    #expect(token != old)
    _ = try await rotated.verify(accessToken: token)
    // A server that does not know of the rotation rejects the token.
    await #expect(throws: Refusal.accessTokenInvalid) { _ = try await issuer().verify(accessToken: token) }
  }

  @Test("An old key signs nothing that was issued after its rotation")
  func oldKeySignsNothingNew() async throws {
    var later = Self.grant
    later.stamp = Stamp(position: LogPosition(9), time: later.stamp.time.adding(milliseconds: 2000))
    // An attacker with the first key still signs as if it had not been rotated.
    let forged = try await issuer().accessToken(for: later)
    await #expect(throws: Refusal.accessTokenInvalid) {
      _ = try await issuer(rotations: [6]).verify(accessToken: forged)
    }
  }

  @Test("Keys are published as long as a token may be good under them, newest first")
  func published() async throws {
    let issuer = try await issuer(rotations: [6, 8])
    let rotated = Timestamp(milliseconds: Self.issuedSeconds * 1000 + 999)
    func kids(after milliseconds: Int64) async throws -> [String] {
      try await issuer.publicKeys(at: rotated.adding(milliseconds: milliseconds)).map(\.kid)
    }
    let lifetime = Int64(Self.lifetimeSeconds) * 1000
    #expect(try await kids(after: 1000) == ["hansard-3", "hansard-2", "hansard-1"])
    #expect(try await kids(after: lifetime) == ["hansard-3", "hansard-2", "hansard-1"])
    #expect(try await kids(after: lifetime + 1) == ["hansard-3", "hansard-2"])
    #expect(try await kids(after: lifetime + 1001) == ["hansard-3"])
    #expect(Set(try await issuer.publicKeys(at: rotated).map(\.x)).count == 3)
  }

  @Test("The same grant makes the same pair, byte for byte, in another process too")
  func deterministic() async throws {
    let (first, second) = (try await issuer(), try await issuer())
    let access = try await first.accessToken(for: Self.grant)
    let refresh = await first.refreshToken(for: Self.grant)
    for _ in 0..<3 {
      #expect(try await second.accessToken(for: Self.grant) == access)
      #expect(await second.refreshToken(for: Self.grant) == refresh)
    }
  }

  @Test("A pair identifies its user and session")
  func roundTrip() async throws {
    let issuer = try await issuer()
    let verified = try await issuer.verify(accessToken: try await issuer.accessToken(for: Self.grant))
    #expect(
      verified.principal
        == Principal(user: Self.grant.user, session: Self.grant.session, device: Self.grant.device))
    let refresh = try await issuer.verify(refreshToken: await issuer.refreshToken(for: Self.grant))
    #expect(refresh.user == Self.grant.user)
    #expect(refresh.session == Self.grant.session)
    #expect(refresh.generation == Self.grant.generation)
  }

  @Test("Another generation, session, user or key makes other tokens")
  func distinct() async throws {
    let issuer = try await issuer()
    var others = Array(repeating: Self.grant, count: 3)
    others[0].generation += 1
    others[1].session = SessionID(UUIDBytes(high: 2, low: 3))
    others[2].user = UserID(UUIDBytes(high: 1, low: 2))
    let foreign = try await self.issuer(secret: 2)
    var access = [try await issuer.accessToken(for: Self.grant), try await foreign.accessToken(for: Self.grant)]
    var refresh = [await issuer.refreshToken(for: Self.grant), await foreign.refreshToken(for: Self.grant)]
    for other in others {
      access.append(try await issuer.accessToken(for: other))
      refresh.append(await issuer.refreshToken(for: other))
    }
    #expect(Set(access).count == access.count)
    #expect(Set(refresh).count == refresh.count)
  }

  @Test("An access token that was forged, cut short or signed with another key is refused")
  func badAccessTokens() async throws {
    let issuer = try await issuer()
    let token = try await issuer.accessToken(for: Self.grant)
    let parts = token.split(separator: ".").map { String($0) }
    var bad: [String] = ["", "a.b.c", token + "A", "\(parts[0]).\(parts[1])."]
    for length in 0..<token.count { bad.append(String(token.prefix(length))) }
    bad.append(try await self.issuer(secret: 2).accessToken(for: Self.grant))
    // Tokens with the signature of other claims, and with the algorithm `none`.
    var other = Self.grant
    other.user = UserID(UUIDBytes(high: 9, low: 9))
    let claims = try await issuer.accessToken(for: other).split(separator: ".")[1]
    bad.append("\(parts[0]).\(claims).\(parts[2])")
    let none = Base64URL.encode(Array(#"{"alg":"none","typ":"JWT"}"#.utf8))
    bad += ["\(none).\(parts[1]).", "\(none).\(parts[1]).\(parts[2])"]
    for token in bad {
      await #expect(throws: Refusal.accessTokenInvalid, "\(token)") { _ = try await issuer.verify(accessToken: token) }
    }
  }

  @Test("A refresh token with any byte changed, cut short or of another key is refused")
  func badRefreshTokens() async throws {
    let issuer = try await issuer()
    let token = await issuer.refreshToken(for: Self.grant)
    let bytes = try #require(Base64URL.decode(token, atMost: 1_000))
    var bad: [String] = ["", "x", token + "A"]
    bad.append(await (try self.issuer(secret: 2)).refreshToken(for: Self.grant))
    for length in 0..<token.count { bad.append(String(token.prefix(length))) }
    for index in bytes.indices {
      var forged = bytes
      forged[index] ^= 1
      bad.append(Base64URL.encode(forged))
    }
    for token in bad {
      await #expect(throws: Refusal.refreshTokenInvalid, "\(token)") {
        _ = try await issuer.verify(refreshToken: token)
      }
    }
  }

  @Test(
    "An access token expires when it was to, or by today's lifetime when that is shorter",
    arguments: [(900, 900), (600, 600), (1200, 900)])
  func expiry(todaySeconds: Int, expectedSeconds: Int) async throws {
    let token = try await issuer().accessToken(for: Self.grant)
    let verified = try await issuer(lifetimeSeconds: todaySeconds).verify(accessToken: token)
    #expect(
      verified.expiresAt == Timestamp(milliseconds: (Self.issuedSeconds + Int64(expectedSeconds)) * 1000))
  }

  @Test("A token from the future is not valid: it was issued while the clock was ahead", arguments: [-1, 0, 1])
  func fromTheFuture(beyond: Int64) async throws {
    let issuer = try await issuer()
    let verified = try await issuer.verify(accessToken: try await issuer.accessToken(for: Self.grant))
    let now = verified.issuedAt.adding(milliseconds: -Limits.clockJumpMilliseconds - beyond)
    #expect(verified.isValid(at: now) == (beyond <= 0))
    let left = await issuer.secondsLeft(
      of: Self.grant, at: Self.grant.stamp.time.adding(milliseconds: -Limits.clockJumpMilliseconds - beyond))
    #expect((left > 0) == (beyond <= 0))
  }

  @Test("A key that was retired while the clock was ahead is retired by the next rotation")
  func retiredInTheFuture() {
    var history = SigningKeyHistory()
    let now = Timestamp(milliseconds: Self.issuedSeconds * 1000)
    history.rotate(to: 2, at: Stamp(position: LogPosition(6), time: now.adding(milliseconds: 400 * 86_400_000)))
    history.rotate(to: 3, at: Stamp(position: LogPosition(8), time: now))
    #expect(history.retirement(of: 1) == now && history.retirement(of: 2) == now)
  }

  @Test("The remaining time is in whole seconds, and never negative")
  func secondsLeft() async throws {
    let issuer = try await issuer()
    let end = (Self.issuedSeconds + Int64(Self.lifetimeSeconds)) * 1000
    let cases: [(Int64, Int)] = [(1000, 1), (1001, 2), (1, 1), (0, 0), (-1, 0)]
    for (milliseconds, seconds) in cases {
      #expect(await issuer.secondsLeft(of: Self.grant, at: Timestamp(milliseconds: end - milliseconds)) == seconds)
    }
  }
}
