package import ChatPrimitives

extension UserEvent {
  package enum Sessions: Sendable, Equatable {
    case started(SessionID, device: DeviceID?)
    /// The session's tokens are now those of `generation`; the first pair is generation 1.
    case refreshed(SessionID, generation: UInt32)
    case ended(SessionID, SessionEnd)
  }
}

/// Why a session ended. The raw values stand in the log.
package enum SessionEnd: UInt8, Sendable, CaseIterable {
  case loggedOut = 1
  /// A refresh token was used after its successor had been: one of the two users of it is a thief.
  case refreshTokenReused = 2
  /// The device that the session belonged to was removed.
  case deviceRemoved = 3
  /// A new login needed its place: see `Limits.sessionsPerUser`.
  case superseded = 4
  /// The account was disabled.
  case accountDisabled = 5
  /// Another session changed the password, or it was reset.
  case passwordChanged = 6
  /// Another session ended all but itself.
  case othersLoggedOut = 7
  /// Every session was ended at once.
  case allLoggedOut = 8

  /// What the tools print.
  package var name: String {
    switch self {
    case .loggedOut: "logged_out"
    case .refreshTokenReused: "refresh_token_reused"
    case .deviceRemoved: "device_removed"
    case .superseded: "superseded"
    case .accountDisabled: "account_disabled"
    case .passwordChanged: "password_changed"
    case .othersLoggedOut: "others_logged_out"
    case .allLoggedOut: "all_logged_out"
    }
  }
}

extension UserEvent.Sessions: EventFamily {
  package var fingerprint: Fingerprint? {
    switch self {
    case .started(let id, let device): .sessionStart(id, device)
    case .refreshed(let id, let generation): .sessionRefresh(id, presented: generation &- 1)
    case .ended(_, .othersLoggedOut): .sessionsEnd(.othersLoggedOut)
    case .ended(_, .allLoggedOut): .sessionsEnd(.allLoggedOut)
    case .ended(let id, let reason): .sessionEnd(id, reason)
    }
  }

  var isUpkeep: Bool {
    switch self {
    case .started, .refreshed, .ended: true
    }
  }
}

extension Fingerprint {
  static func sessionStart(_ id: SessionID, _ device: DeviceID?) -> Fingerprint {
    Fingerprint(.text("session.start"), .id(id.uuid), .id(device?.uuid))
  }

  static func sessionRefresh(_ id: SessionID, presented: UInt32) -> Fingerprint {
    Fingerprint(.text("session.refresh"), .id(id.uuid), .number(Int64(presented)))
  }

  static func sessionEnd(_ id: SessionID, _ reason: SessionEnd) -> Fingerprint {
    Fingerprint(.text("session.end"), .id(id.uuid), .number(Int64(reason.rawValue)))
  }

  /// Which sessions it ended depends on which there were; what was asked for does not.
  static func sessionsEnd(_ reason: SessionEnd) -> Fingerprint {
    Fingerprint(.text("sessions.end"), .number(Int64(reason.rawValue)))
  }
}

// MARK: - Decide

extension UserDecider {
  /// What was found out outside must still hold here. Only who has shown who they are learns that the account is
  /// disabled.
  static func authorizeLogin(of user: User, _ proof: LoginProof, by context: CommandContext) throws(Rejection) {
    switch proof {
    case .service:
      guard context.isByService else { throw .serviceOnly }
    case .password(let version):
      guard user.credential?.version == version else { throw .credentialsRejected }
    case .identity(let identity):
      guard user.identities[identity] != nil else { throw .credentialsRejected }
    }
    guard user.disabled == nil else { throw .accountDisabled }
  }

  /// A login tapped twice names the same session, and is one as long as nobody has refreshed it: after that its first
  /// pair of tokens is gone for good, and the login cannot be answered as the first time. An ended session is never
  /// opened again.
  ///
  /// Where no place is left, the sessions that have gone longest without a refresh make room: who cannot log in could
  /// not end one either.
  ///
  /// The device need not be registered: an app logs in first and describes its device then.
  static func startSession(
    _ id: SessionID, _ device: DeviceID?, of user: User
  ) throws(Rejection) -> Decision<UserEvent> {
    switch user.sessions[id] {
    case .open(let session):
      guard session.device == device else { throw .idInUse }
      guard session.generation == 1 else { throw .sessionRefreshed }
      return .alreadyDone(session.pair)
    case .ended:
      throw .sessionEnded
    case nil:
      let excess = user.openSessions.count + 1 - Limits.sessionsPerUser
      let superseded = excess > 0 ? user.openSessionsByAge.prefix(excess) : []
      return .record([.sessions(.started(id, device: device))] + superseded.map { .sessions(.ended($0, .superseded)) })
    }
  }

  /// Generation g is the newest that was issued.
  /// - g presented: it is used for the first time, and g + 1 is issued.
  /// - g − 1 presented: g has not been used yet (else it would not be the newest), so whoever asks gets g again.
  /// - anything older: its successor was used, so two hold it. The session ends; that event is the caller's answer.
  static func refreshSession(
    _ id: SessionID, _ presented: UInt32, oldest: Timestamp?, of user: User
  ) throws(Rejection) -> Decision<UserEvent> {
    guard user.disabled == nil else { throw .accountDisabled }
    switch user.sessions[id] {
    case .open(let session):
      if let oldest, session.pair.time < oldest { throw .refreshTokenExpired }
      guard presented >= 1, presented <= session.generation else { throw .refreshTokenExpired }
      if presented == session.generation {
        // After four thousand million refreshes the user logs in anew.
        guard presented < UInt32.max else { throw .refreshTokenExpired }
        return .record([.sessions(.refreshed(id, generation: presented + 1))])
      }
      if presented == session.generation - 1 { return .alreadyDone(session.pair) }
      return .record([.sessions(.ended(id, .refreshTokenReused))])
    case .ended(.refreshTokenReused, _):
      throw .refreshTokenReused
    case .ended(.loggedOut, _), .ended(.deviceRemoved, _), .ended(.superseded, _), .ended(.accountDisabled, _),
      .ended(.passwordChanged, _), .ended(.othersLoggedOut, _), .ended(.allLoggedOut, _):
      throw .sessionEnded
    case nil:
      throw .refreshTokenExpired
    }
  }

  static func endSession(_ id: SessionID, _ reason: SessionEnd, of user: User) throws(Rejection) -> Decision<UserEvent>
  {
    switch user.sessions[id] {
    case .open: .record([.sessions(.ended(id, reason))])
    case .ended(_, let stamp): .alreadyDone(stamp)
    case nil: throw .sessionNotFound
    }
  }
}

extension UserDecider {
  /// Each event says which selection it belongs to, so that the first tells a retry under its idempotency key. Where
  /// there is nothing to end, a command with a key ends a session that does not exist, under an ID made of the key: a late
  /// retry then finds it, and does not end what was started meanwhile. The key itself is not that ID, because a client may
  /// use one UUID as the ID of a session and as a key.
  static func endSessions(
    _ selection: SessionSelection, of user: User, by context: CommandContext
  ) -> Decision<UserEvent> {
    let kept: SessionID? =
      switch selection {
      case .all: nil
      case .others: context.session
      }
    let ended = user.openSessions.filter { $0 != kept }.sorted()
    if ended.isEmpty {
      guard let key = context.command else { return .alreadyDone(user.registered) }
      return .record([.sessions(.ended(absentSession(for: key), selection.reason))])
    }
    return .record(ended.map { .sessions(.ended($0, selection.reason)) })
  }

  /// The session that a command under this key records as ended when no session is open. It never started.
  package static func absentSession(for key: CommandID) -> SessionID {
    SessionID(Fingerprint(.text("sessions.end.none"), .id(key.uuid)).bytes)
  }
}

extension User {
  /// The open sessions, those whose newest pair of tokens is oldest first. No two pairs were issued at one position.
  fileprivate var openSessionsByAge: [SessionID] {
    openSessions
      .compactMap { id -> (id: SessionID, pair: LogPosition)? in
        guard case .open(let session) = sessions[id] else { return nil }
        return (id, session.pair.position)
      }
      .sorted { $0.pair < $1.pair }
      .map(\.id)
  }
}
