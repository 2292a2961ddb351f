import Synchronization

/// Tells whether the server's key is wrong, or only single subscriptions were made with another one: push services respond
/// to both with 401 or 403.
///
/// Once a push service has accepted a notification, the key is right for as long as the server runs, because a new key needs
/// a restart. So users who register wrong subscriptions cannot make the key look wrong.
final class KeyRefusals: Sendable {
  /// The key is probably wrong if it was refused for so many different subscriptions and accepted for none.
  static let limit = 8

  private enum State {
    case unknown(refused: Set<String>)
    case right
  }

  private let state = Mutex(State.unknown(refused: []))

  /// Call this when a push service has accepted a notification.
  func noteAccepted() {
    state.withLock { $0 = .right }
  }

  /// Call this when a push service has refused the key for a subscription.
  /// - Returns: whether the key is probably wrong.
  func noteRefused(_ endpoint: String) -> Bool {
    state.withLock { state in
      guard case .unknown(var refused) = state else { return false }
      if refused.count < Self.limit {
        refused.insert(endpoint)
        state = .unknown(refused: refused)
      }
      return refused.count >= Self.limit
    }
  }
}
