import Synchronization

/// Providers give the same response for a wrong key or topic of the server and for a single token of another app. This type
/// tells them apart.
///
/// Once a provider has accepted a notification, the key is right for as long as the server runs, because a new key needs a
/// restart. After that, users who register wrong tokens cannot make the key look wrong.
final class KeyRefusals: Sendable {
  /// The key is probably wrong if it was refused for this many different tokens and accepted for none.
  static let limit = 8
  /// When a device is tried again while the key may be wrong, or while Firebase cannot use its own key for APNs or Web
  /// Push, in seconds. It is so long that a notification expires before it uses up its attempts (`RetryPolicy.attempts`).
  static let retrySeconds: Int64 = 15 * 60

  private enum State {
    case unknown(refused: Set<String>)
    case right
  }

  private let state = Mutex(State.unknown(refused: []))

  /// What such a response means. The notification is abandoned only if the key is known to be right.
  /// - Parameters:
  ///   - response: what the provider responded.
  ///   - next: what an operator has to do if the key is wrong.
  func result(of response: String, from provider: String, for token: String, next: String) -> SendResult {
    let isProbablyWrong = state.withLock { state -> Bool? in
      guard case .unknown(var refused) = state else { return nil }
      if refused.count < Self.limit {
        refused.insert(token)
        state = .unknown(refused: refused)
      }
      return refused.count >= Self.limit
    }
    guard let isProbablyWrong else { return .rejected(response: response) }
    let retryAfter = Duration.seconds(Self.retrySeconds)
    guard isProbablyWrong else {
      return .possiblyWrongKey(reason: "\(response); \(next)", failure: response, retryAfter: retryAfter)
    }
    let reason = "\(provider) responded with \(response) for \(Self.limit) devices, and has accepted no notification"
    return .keyRefused(reason: "\(reason); \(next)", failure: response, retryAfter: retryAfter)
  }

  /// Call this when a provider has accepted a notification.
  func noteAccepted() {
    state.withLock { $0 = .right }
  }
}
