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
  /// A refresh token was used after its successor was, so two clients have it. One of them stole it.
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

  /// Names what was asked for. Which sessions ended depends on which were open.
  static func sessionsEnd(_ reason: SessionEnd) -> Fingerprint {
    Fingerprint(.text("sessions.end"), .number(Int64(reason.rawValue)))
  }
}

// MARK: - Commands

extension UserCommand {
  package enum Sessions: Sendable, Equatable {
    case start(SessionID, device: DeviceID?, proof: LoginProof)
    /// - presented: the generation of the refresh token that was shown.
    /// - oldest: refresh tokens that were issued before this are too old; nil when they do not age.
    case refresh(SessionID, presented: UInt32, oldest: Timestamp?)
    case end(SessionID, SessionEnd)
    case endMany(SessionSelection)
  }
}

/// Which sessions end at once.
package enum SessionSelection: Sendable, Hashable {
  /// All but the one that the request is made with.
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
  /// A refresh that finds its token reused is the exception: the event that ends the session does not say which token
  /// it was, so its fingerprint differs.
  package func fingerprint(by actor: UserID?) -> Fingerprint {
    switch self {
    case .start(let id, let device, _): .sessionStart(id, device)
    case .refresh(let id, let presented, _): .sessionRefresh(id, presented: presented)
    case .end(let id, let reason): .sessionEnd(id, reason)
    case .endMany(let selection): .sessionsEnd(selection.reason)
    }
  }

  /// A start is known by the ID of the session, and a refresh by the generation of the refresh token.
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
  /// first pair of tokens is gone, and the first response cannot be repeated. An ended session is never opened again.
  ///
  /// When the user has too many sessions, those whose last refresh is oldest end: a user who cannot log in could not
  /// end one either.
  ///
  /// The device need not be registered: an app logs in first and describes its device then.
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
  /// - anything older: its successor was used, so two clients have it. The session ends; that event is the caller's
  ///   answer.
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
        // After four thousand million refreshes the user has to log in again.
        guard presented < UInt32.max else { throw .refreshTokenExpired }
        return .record([.sessions(.refreshed(session, generation: presented + 1))])
      }
      if presented == open.generation - 1 { return .alreadyDone(open.pair) }
      return .record([.sessions(.ended(session, .refreshTokenReused))])
    case .ended(.refreshTokenReused, _):
      throw .refreshTokenReused
    case .ended(.loggedOut, _), .ended(.deviceRemoved, _), .ended(.superseded, _), .ended(.accountDisabled, _),
      .ended(.passwordChanged, _), .ended(.othersLoggedOut, _), .ended(.allLoggedOut, _):
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

  /// Each event names the selection, so that a retry is recognised by the first one. Where there is nothing to end, a
  /// command with a key ends a session that does not exist, under an ID made of the key: a late retry then finds that
  /// event and does not end sessions that were started since. The key itself is not that ID, because a client may use
  /// one UUID as the ID of a session and as a key.
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
