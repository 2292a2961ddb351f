package import ChatDomain
package import Crypto
import Synchronization

/// The keys that sign access tokens. Each is derived from the key file and its generation. The log determines which
/// generation is in use. Contains only durable events.
package final class SigningKeys: Sendable {
  private let keys: ServerKeys
  private let state: Mutex<SigningKeyHistory>

  package init(keys: ServerKeys, history: SigningKeyHistory = SigningKeyHistory()) {
    self.keys = keys
    state = Mutex(history)
  }

  package var history: SigningKeyHistory { state.withLock { $0 } }

  /// The seed of an Ed25519 key pair.
  package func seed(of generation: UInt32) -> SymmetricKey {
    let purpose = "access-token-signing"
    return keys.key(for: generation == SigningKeyHistory.first ? purpose : "\(purpose)-\(generation)")
  }

  func take(_ events: [RecordedEvent]) {
    for recorded in events {
      if case .server(.signingKeyRotated(let generation)) = recorded.event {
        state.withLock { $0.rotate(to: generation, at: recorded.stamp) }
      }
    }
  }
}
