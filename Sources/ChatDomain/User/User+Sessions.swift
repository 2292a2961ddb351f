package import ChatPrimitives

extension UserEvent {
  package enum Sessions: Sendable, Equatable {
    case started(SessionID, device: DeviceID?)
    /// The session's tokens are now those of `generation`; the first pair is generation 1.
    case refreshed(SessionID, generation: UInt32)
    case ended(SessionID, SessionEnd)
  }
}

/// Why a session ended. The raw values are in the log.
package enum SessionEnd: UInt8, Sendable, CaseIterable {
  case loggedOut = 1
  /// A refresh token was used after its successor was used, so two clients have it. One of them stole it.
  case refreshTokenReused = 2
  /// The device that the session belonged to was removed.
  case deviceRemoved = 3
  /// A new login ended it, because the user had `Limits.sessionsPerUser` sessions.
  case superseded = 4
  /// The account was disabled.
  case accountDisabled = 5
  /// Another session changed the password, or it was reset.
  case passwordChanged = 6
  /// Another session ended all others.
  case othersLoggedOut = 7
  /// Every session was ended at once.
  case allLoggedOut = 8
  /// The account was deleted.
  case accountDeleted = 9

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
    case .accountDeleted: "account_deleted"
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

  /// Depends on what was asked for, and not on which sessions were open.
  static func sessionsEnd(_ reason: SessionEnd) -> Fingerprint {
    Fingerprint(.text("sessions.end"), .number(Int64(reason.rawValue)))
  }
}

// MARK: - Commands

extension UserCommand {
  package enum Sessions: Sendable, Equatable {
    case start(SessionID, device: DeviceID?, proof: LoginProof)
    /// - presented: the generation of the refresh token in the request.
    /// - oldest: refresh tokens that were issued before this have expired; nil if they do not expire.
    case refresh(SessionID, presented: UInt32, oldest: Timestamp?)
    case end(SessionID, SessionEnd)
    case endMany(SessionSelection)
  }
}

/// Which sessions end at once.
package enum SessionSelection: Sendable, Hashable {
  /// All except the one that sends the request.
  case others
  case all

  var reason: SessionEnd {
    switch self {
    case .others: .othersLoggedOut
    case .all: .allLoggedOut
    }
  }
}

extension UserCommand.Sessions: AggregateCommand {
  /// An exception is a refresh with a reused token: the event that ends the session does not include the token's
  /// generation, so its fingerprint differs.
  package func fingerprint(by actor: UserID?) -> Fingerprint {
    switch self {
    case .start(let id, let device, _): .sessionStart(id, device)
    case .refresh(let id, let presented, _): .sessionRefresh(id, presented: presented)
    case .end(let id, let reason): .sessionEnd(id, reason)
    case .endMany(let selection): .sessionsEnd(selection.reason)
    }
  }

  /// A login is recognised by the ID of the session, and a refresh by the generation of the refresh token.
  package var isKnownByItself: Bool {
    switch self {
    case .start, .refresh: true
    case .end, .endMany: false
    }
  }

  package func addKeys(to lookup: inout Lookup, on user: UserID, by actor: UserID?) {
    switch self {
    case .start(let id, _, _), .refresh(let id, _, _), .end(let id, _): lookup.ending = .session(user, id)
    case .endMany: break
    }
  }
}

// MARK: - Decide

extension UserDecider {
  func decide(_ command: UserCommand.Sessions) throws(Rejection) -> Decision<UserEvent> {
    switch command {
    case .start(let id, let device, let proof): try start(id, device, proof)
    case .refresh(let id, let presented, let oldest): try refresh(id, presented, oldest: oldest)
    case .end(let id, let reason): try end(id, reason)
    case .endMany(let selection): try endMany(selection)
    }
  }

  /// A login that is sent twice names the same session. It is a retry until the session is refreshed: after that the
  /// first tokens are no longer valid, and the response cannot be repeated. An ended session is never opened again.
  ///
  /// If the user has too many sessions, those with the oldest refresh end, because a user who cannot log in could not
  /// end a session either.
  ///
  /// The device need not be registered: an app logs in first and then registers its device.
  private func start(
    _ session: SessionID, _ device: DeviceID?, _ proof: LoginProof
  ) throws(Rejection) -> Decision<UserEvent> {
    let user = try authorizedUser()
    try requireProof(proof, of: user)
    switch user.sessions[session] {
    case .open(let open):
      guard open.device == device else { throw .idInUse }
      guard open.generation == 1 else { throw .sessionRefreshed }
      return .alreadyDone(open.pair)
    case .ended:
      throw .sessionEnded
    case nil:
      let excess = user.openSessions.count + 1 - Limits.sessionsPerUser
      let superseded = excess > 0 ? user.openSessionsByAge.prefix(excess) : []
      return .record(
        [.sessions(.started(session, device: device))] + superseded.map { .sessions(.ended($0, .superseded)) })
    }
  }

  /// The proof was checked before the decision, and must still hold. Only a caller with a valid proof learns that the
  /// account is disabled.
  private func requireProof(_ proof: LoginProof, of user: User) throws(Rejection) {
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

  /// Generation g is the newest that was issued.
  /// - g presented: it is used for the first time, and g + 1 is issued.
  /// - g − 1 presented: g has not been used yet (else it would not be the newest), so the caller gets g again.
  /// - anything older: its successor was used, so two clients have it. The session ends, and the request is rejected
  ///   because of that event.
  private func refresh(
    _ session: SessionID, _ presented: UInt32, oldest: Timestamp?
  ) throws(Rejection) -> Decision<UserEvent> {
    let user = try authorizedUser(orAfterEndOf: session)
    guard user.disabled == nil else { throw .accountDisabled }
    switch user.sessions[session] {
    case .open(let open):
      if let oldest, open.pair.time < oldest { throw .refreshTokenExpired }
      guard presented >= 1, presented <= open.generation else { throw .refreshTokenExpired }
      if presented == open.generation {
        // After four billion refreshes the user has to log in again.
        guard presented < UInt32.max else { throw .refreshTokenExpired }
        return .record([.sessions(.refreshed(session, generation: presented + 1))])
      }
      if presented == open.generation - 1 { return .alreadyDone(open.pair) }
      return .record([.sessions(.ended(session, .refreshTokenReused))])
    case .ended(.refreshTokenReused, _):
      throw .refreshTokenReused
    case .ended(.loggedOut, _), .ended(.deviceRemoved, _), .ended(.superseded, _), .ended(.accountDisabled, _),
      .ended(.passwordChanged, _), .ended(.othersLoggedOut, _), .ended(.allLoggedOut, _), .ended(.accountDeleted, _):
      throw .sessionEnded
    case nil:
      throw .refreshTokenExpired
    }
  }

  private func end(_ session: SessionID, _ reason: SessionEnd) throws(Rejection) -> Decision<UserEvent> {
    let user = try authorizedUser(orAfterEndOf: session)
    if let done = try doneBefore() { return done }
    switch user.sessions[session] {
    case .open: return .record([.sessions(.ended(session, reason))])
    case .ended(_, let stamp): return .alreadyDone(stamp)
    case nil: throw .sessionNotFound
    }
  }

  /// Each event includes the selection, so that a retry is recognised by the first one. If there is no session to end,
  /// a command with a key records the end of a session that does not exist, with an ID derived from the key. A late
  /// retry finds that event and does not end newer sessions. The key itself is not that ID, because a client may use
  /// one UUID both as a session's ID and as a key.
  private func endMany(_ selection: SessionSelection) throws(Rejection) -> Decision<UserEvent> {
    let user = try authorizedUser()
    if let done = try doneBefore() { return done }
    let kept: SessionID? =
      switch selection {
      case .all: nil
      case .others: context.session
      }
    let ended = user.openSessions.filter { $0 != kept }.sorted()
    if ended.isEmpty {
      guard let key = context.command else { return .alreadyDone(user.registered) }
      return .record([.sessions(.ended(Self.absentSession(for: key), selection.reason))])
    }
    return .record(ended.map { .sessions(.ended($0, selection.reason)) })
  }

  /// The session that a command with this key records as ended if no session is open. It never started.
  package static func absentSession(for key: CommandID) -> SessionID {
    SessionID(Fingerprint(.text("sessions.end.none"), .id(key.uuid)).bytes)
  }
}

extension User {
  /// The open sessions, ordered by the age of their newest tokens, oldest first. No two pairs have the same position.
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

// MARK: - Evolve

extension User {
  mutating func apply(_ event: UserEvent.Sessions, _ stamp: Stamp) {
    switch event {
    case .started(let id, let device):
      startSession(id, device, stamp)
    case .refreshed(let id, let generation):
      refreshSession(id, generation: generation, stamp)
    case .ended(let id, let reason):
      endSession(id, reason, stamp)
    }
  }
}
