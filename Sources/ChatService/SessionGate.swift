package import ChatDomain
package import ChatPrimitives
import Synchronization

/// The sessions that have ended while access tokens of theirs may still be valid by their signature. Holds durable
/// facts only, so that queries may rely on it; commands are checked by the writer.
package final class SessionGate: Sendable {
  private struct Ended: Hashable {
    let user: UserID
    let session: SessionID
  }

  private let ended = Mutex<[Ended: Timestamp]>([:])
  private let tokenLifetimeMilliseconds: Int64

  /// - Parameter tokenLifetimeMilliseconds: of an access token; an ended session is forgotten after that.
  package init(tokenLifetimeMilliseconds: Int64) {
    self.tokenLifetimeMilliseconds = tokenLifetimeMilliseconds
  }

  /// - Parameter state: whose ended sessions are entered.
  package convenience init(tokenLifetimeMilliseconds: Int64, restoring state: DecisionState) {
    self.init(tokenLifetimeMilliseconds: tokenLifetimeMilliseconds)
    for (id, versioned) in state.users {
      guard case .registered(let user) = versioned.state else { continue }
      for (session, standing) in user.sessions {
        if case .ended(_, let stamp) = standing { enter(session, of: id, at: stamp.time) }
      }
    }
  }

  package func isEnded(_ session: SessionID, of user: UserID) -> Bool {
    ended.withLock { $0[Ended(user: user, session: session)] != nil }
  }

  /// Enters a session that ended at `time`, and forgets those whose tokens have all expired since.
  package func enter(_ session: SessionID, of user: UserID, at time: Timestamp) {
    ended.withLock { ended in
      let oldest = time.adding(milliseconds: -tokenLifetimeMilliseconds)
      if ended.count % Self.sweepInterval == 0 { ended = ended.filter { $0.value >= oldest } }
      ended[Ended(user: user, session: session)] = time
    }
  }

  package func take(_ events: [RecordedEvent]) {
    for recorded in events {
      if case .user(let user, .sessionEnded(let session, _)) = recorded.event {
        enter(session, of: user, at: recorded.stamp.time)
      }
    }
  }

  /// Ended sessions between two sweeps.
  private static let sweepInterval = 256
}
