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
actor SharedToken {
  struct Made: Sendable {
    let token: String
    /// How long the token is used.
    let lifetime: Duration
  }

  private var schedule = TokenSchedule()
  private var making: Task<Made, any Error>?
  private let make: @Sendable () async throws -> Made

  init(_ make: @escaping @Sendable () async throws -> Made) { self.make = make }

  func current() async throws -> String {
    if let token = schedule.usable(at: .now) { return token }
    if let making { return try await making.value.token }
    let task = Task { try await make() }
    making = task
    defer { making = nil }
    let made = try await task.value
    schedule.set(made.token, for: made.lifetime, at: .now)
    return made.token
  }

  /// - Returns: whether a new token may help.
  func reject(_ token: String) -> Bool { schedule.reject(token, at: .now) }
}
