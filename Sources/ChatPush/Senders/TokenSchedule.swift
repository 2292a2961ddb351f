import Synchronization

/// Decides when to renew a token that a provider requires with each request: some time before it expires, or when the
/// provider rejects it.
struct TokenSchedule: Sendable {
  typealias Instant = ContinuousClock.Instant

  /// The shortest time between two renewals that rejections cause, in seconds.
  static let renewalSeconds = 60

  private(set) var token: String?
  private var renewalDue: Instant?
  private var lastRejection: Instant?

  /// The token, if it can be used.
  func usable(at now: Instant) -> String? {
    guard let token, let renewalDue, now < renewalDue else { return nil }
    return token
  }

  mutating func set(_ token: String, for lifetime: Duration, at now: Instant) {
    self.token = token
    renewalDue = now + lifetime
  }

  /// Call this when the provider rejected a token.
  /// - Returns: false if a token was rejected less than `renewalSeconds` ago. Then a new one would not help.
  mutating func reject(_ rejected: String, at now: Instant) -> Bool {
    // Another request has already renewed it.
    guard rejected == token else { return true }
    if let lastRejection, now - lastRejection < .seconds(Self.renewalSeconds) { return false }
    lastRejection = now
    token = nil
    return true
  }
}

/// Keeps one token for all requests. Requests that need a new one at the same time get the same.
///
/// It is not an actor, because almost every request finds a token and then should not change its executor.
final class SharedToken: Sendable {
  struct Made: Sendable {
    let token: String
    /// How long the token is used.
    let lifetime: Duration
  }

  private struct State {
    var schedule = TokenSchedule()
    var renewal: Task<String, any Error>?
  }

  private let state = Mutex(State())
  private let make: @Sendable () async throws -> Made

  init(_ make: @escaping @Sendable () async throws -> Made) { self.make = make }

  func current() async throws -> String {
    switch state.withLock({ found(&$0) }) {
    case .token(let token): token
    case .renewal(let renewal): try await renewal.value
    }
  }

  private enum Found {
    case token(String)
    /// In progress or new.
    case renewal(Task<String, any Error>)
  }

  private func found(_ state: inout State) -> Found {
    if let token = state.schedule.usable(at: .now) { return .token(token) }
    let renewal = state.renewal ?? Task { try await self.renew() }
    state.renewal = renewal
    return .renewal(renewal)
  }

  private func renew() async throws -> String {
    defer { state.withLock { $0.renewal = nil } }
    let made = try await make()
    state.withLock { $0.schedule.set(made.token, for: made.lifetime, at: .now) }
    return made.token
  }

  /// - Returns: whether a new token may help.
  func reject(_ token: String) -> Bool { state.withLock { $0.schedule.reject(token, at: .now) } }
}
