package import ChatPrimitives

/// How something ended for good: a session, a room or a workspace. Memory holds only what is alive. What has ended is
/// looked up for the few commands that depend on it: a retry, or an attempt to use the same ID again.
package enum Ending: Sendable, Hashable {
  case session(SessionEnd, Stamp)
  /// Of a room or a workspace. The fingerprint is that of the creation; nil when that was erased.
  case deletion(Stamp, creationFingerprint: Fingerprint?)
}

/// Names something that can end for good.
package enum EndingKey: Sendable, Hashable {
  /// A session's ID is unique within its user.
  case session(UserID, SessionID)
  case room(RoomID)
  case workspace(WorkspaceID)
}

extension UserState {
  /// Removes a session that has ended.
  /// - Returns: how it ended; nil when it is open or not there.
  package mutating func removeEnded(_ id: SessionID) -> Ending? {
    guard case .registered(var user) = self else { return nil }
    // The state lets go of the payload first, so that it is changed in place and not copied.
    self = .absent
    defer { self = .registered(user) }
    return user.removeEnded(id)
  }

  /// The state with what was looked up of a session that has ended.
  package func adding(_ ending: Ending?, of id: SessionID) -> UserState {
    guard case .session(let reason, let stamp)? = ending, case .registered(var user) = self else { return self }
    user.addEnded(id, reason, stamp)
    return .registered(user)
  }
}

extension RoomState {
  package init(_ ending: Ending?) {
    switch ending {
    case .deletion(let stamp, let fingerprint)?: self = .deleted(stamp, creationFingerprint: fingerprint)
    case .session?, nil: self = .absent
    }
  }

  /// Nil unless the room is deleted.
  package var ending: Ending? {
    guard case .deleted(let stamp, let fingerprint) = self else { return nil }
    return .deletion(stamp, creationFingerprint: fingerprint)
  }
}

extension WorkspaceState {
  package init(_ ending: Ending?) {
    switch ending {
    case .deletion(let stamp, let fingerprint)?: self = .deleted(stamp, creationFingerprint: fingerprint)
    case .session?, nil: self = .absent
    }
  }

  /// Nil unless the workspace is deleted.
  package var ending: Ending? {
    guard case .deleted(let stamp, let fingerprint) = self else { return nil }
    return .deletion(stamp, creationFingerprint: fingerprint)
  }
}
