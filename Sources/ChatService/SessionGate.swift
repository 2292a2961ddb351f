package import ChatDomain
package import ChatPrimitives
package import ChatProjections
import Synchronization

/// Ended sessions whose access tokens or signed URLs may still be valid by signature, and disabled or deleted accounts, for which other
/// issuers' tokens may be valid. Contains only durable events, so that queries can rely on it; the writer checks
/// commands.
package final class SessionGate: Sendable {
  private struct Ended: Hashable {
    let user: UserID
    let session: SessionID
  }

  private let ended = Mutex<[Ended: End]>([:])
  private let statuses = Mutex<[UserID: AccountStatus]>([:])
  private let lifetimeMilliseconds: Int64

  /// When a session ended, by the clock and by the monotonic clock. It is dropped after these have expired by
  /// both: with only one, it would be dropped too early if the clock is set.
  private struct End {
    let time: Timestamp
    let noted: ContinuousClock.Instant
  }

  /// Replies to two commands may arrive in any order, so each status has the position of its event.
  private struct AccountStatus {
    let isDisabled: Bool
    let isDeleted: Bool
    let position: LogPosition
  }

  /// - Parameter lifetimeMilliseconds: of an access token or a signed URL; an ended session is dropped after that.
  package init(lifetimeMilliseconds: Int64) {
    self.lifetimeMilliseconds = lifetimeMilliseconds
  }

  /// - Parameters:
  ///   - users: the disabled and deleted ones among them are added.
  ///   - sessions: ended sessions whose access tokens may still be valid.
  package convenience init(
    lifetimeMilliseconds: Int64, users: [UserID: Versioned<UserState>], ended sessions: [EndedSession]
  ) {
    self.init(lifetimeMilliseconds: lifetimeMilliseconds)
    for (id, versioned) in users {
      switch versioned.state {
      case .registered(let user):
        if let stamp = user.disabled { setStatus(of: id, isDisabled: true, at: stamp.position) }
      case .deleted(let deleted): setStatus(of: id, isDisabled: true, isDeleted: true, at: deleted.deleted.position)
      case .absent: break
      }
    }
    for ended in sessions { enter(ended.session, of: ended.user, at: ended.time) }
  }

  package func isEnded(_ session: SessionID, of user: UserID) -> Bool {
    ended.withLock { $0[Ended(user: user, session: session)] != nil }
  }

  package func isDisabled(_ user: UserID) -> Bool {
    statuses.withLock { $0[user]?.isDisabled ?? false }
  }

  package func isDeleted(_ user: UserID) -> Bool {
    statuses.withLock { $0[user]?.isDeleted ?? false }
  }

  private func setStatus(of user: UserID, isDisabled: Bool, isDeleted: Bool = false, at position: LogPosition) {
    statuses.withLock { statuses in
      if let known = statuses[user], known.position > position { return }
      statuses[user] = AccountStatus(isDisabled: isDisabled, isDeleted: isDeleted, position: position)
    }
  }

  /// Adds a session that ended at `time`, and from time to time drops those whose tokens have expired.
  package func enter(_ session: SessionID, of user: UserID, at time: Timestamp) {
    ended.withLock { ended in
      let oldest = time.adding(milliseconds: -lifetimeMilliseconds)
      let longAgo = ContinuousClock.now - .milliseconds(lifetimeMilliseconds)
      if ended.count % Self.sweepInterval == 0 {
        ended = ended.filter { $0.value.time >= oldest || $0.value.noted >= longAgo }
      }
      ended[Ended(user: user, session: session)] = End(time: time, noted: .now)
    }
  }

  package func take(_ events: [RecordedEvent]) {
    for recorded in events {
      guard case .user(let user, let event) = recorded.event else { continue }
      switch event {
      case .sessions(.ended(let session, _)): enter(session, of: user, at: recorded.stamp.time)
      case .account(.disabled): setStatus(of: user, isDisabled: true, at: recorded.position)
      case .deletion(.deleted): setStatus(of: user, isDisabled: true, isDeleted: true, at: recorded.position)
      case .account(.enabled): setStatus(of: user, isDisabled: false, at: recorded.position)
      case .account(.registered), .account(.profileChanged), .account(.emailSet), .account(.preferencesSet), .logins,
        .sessions(.started), .sessions(.refreshed), .devices, .media, .blocks,
        .deletion(.erased), .erased:
        break
      }
    }
  }

  /// How many sessions are added between two sweeps.
  private static let sweepInterval = 256
}
