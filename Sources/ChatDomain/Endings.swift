package import ChatPrimitives

/// How a session, a room or a workspace ended permanently. Memory contains only what has not ended. An ending is looked
/// up for the few commands that depend on it: a retry, or an attempt to use the same ID again.
package enum Ending: Sendable, Hashable {
  case session(SessionEnd, Stamp)
  /// The deletion of a room or a workspace. The fingerprint is that of its creation; nil if that was erased.
  case deletion(Stamp, creationFingerprint: Fingerprint?)
}

/// Identifies something that can end permanently.
package enum EndingKey: Sendable, Hashable {
  /// A session's ID is unique within its user.
  case session(UserID, SessionID)
  case room(RoomID)
  case workspace(WorkspaceID)
}

extension ChatEvent {
  /// What the event ends permanently; nil for an event that ends nothing.
  package var endedKey: EndingKey? {
    switch self {
    case .user(let id, let event): event.endedSession.map { .session(id, $0) }
    case .room(let id, let event): event.deletesRoom ? .room(id) : nil
    case .workspace(let id, let event): event.deletesWorkspace ? .workspace(id) : nil
    case .server: nil
    }
  }
}

extension UserEvent {
  fileprivate var endedSession: SessionID? {
    switch self {
    case .sessions(.ended(let session, _)): session
    case .sessions(.started), .sessions(.refreshed), .account, .logins, .devices, .media, .blocks, .deletion,
      .erased:
      nil
    }
  }
}

extension RoomEvent {
  fileprivate var deletesRoom: Bool {
    switch self {
    case .lifecycle(.deleted): true
    case .lifecycle(.created), .lifecycle(.edited), .lifecycle(.archived), .lifecycle(.restored), .sharing, .members,
      .messages, .annotations, .reading, .threads, .scheduling, .reports, .erased:
      false
    }
  }
}

extension WorkspaceEvent {
  fileprivate var deletesWorkspace: Bool {
    switch self {
    case .lifecycle(.deleted): true
    case .lifecycle(.created), .lifecycle(.edited), .sharing, .members, .invitations, .erased: false
    }
  }
}

extension UserState {
  /// Removes a session that has ended from the state.
  /// - Returns: how the session ended; nil if it is open or does not exist.
  package mutating func removeEnded(_ id: SessionID) -> Ending? {
    guard case .registered(var user) = self else { return nil }
    // Clearing the state first releases the payload, so that it is changed in place and not copied.
    self = .absent
    defer { self = .registered(user) }
    return user.removeEnded(id)
  }

  /// The state with a session that has ended and was looked up.
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
