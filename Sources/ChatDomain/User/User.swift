package import ChatPrimitives

/// What the decisions about one user depend on.
package enum UserState: Sendable, Equatable {
  case absent
  case registered(User)
  /// The account was deleted. Only the ID stays in use.
  case deleted(DeletedUser)
}

/// A user whose account was deleted.
package struct DeletedUser: Sendable, Hashable {
  package var deleted: Stamp
  /// When the erasure was complete; nil if it is not.
  package var erased: Stamp?

  package init(deleted: Stamp, erased: Stamp? = nil) {
    self.deleted = deleted
    self.erased = erased
  }
}

package struct User: Sendable, Equatable {
  package var profile: Profile
  /// Where the profile or the e-mail address last changed; otherwise the registration.
  package var revision: LogPosition
  package var email: String?
  package var externalID: String?
  package var credential: Credential?
  /// Where the newest credential was set; nil without one.
  package var credentialSet: Stamp?
  /// The user's logins at identity providers, each with where it was linked.
  package var identities: [Identity: Stamp] = [:]
  package var preferences = UserPreferences()
  /// When the account was disabled; nil if it is enabled.
  package var disabled: Stamp?
  /// The fingerprint of the registration. Nil if it was erased; then no retry can be recognised.
  package var registrationFingerprint: Fingerprint?
  package var registered: Stamp
  /// Open sessions, and ended sessions that a decision needs to know: see `Ending`.
  package private(set) var sessions: [SessionID: Session]
  /// The IDs of the open ones among `sessions`. More than `Limits.sessionsPerUser` only if the log says so.
  package private(set) var openSessions: Set<SessionID>
  package var devices: [DeviceID: Device]
  /// The users whom the user blocks, and since when. At most `Limits.blockedUsersPerUser`.
  package var blockedUsers: [UserID: Stamp] = [:]

  package init(
    profile: Profile, email: String?, externalID: String?, credential: Credential?,
    registrationFingerprint: Fingerprint?, registered: Stamp, sessions: [SessionID: Session] = [:],
    devices: [DeviceID: Device] = [:]
  ) {
    self.profile = profile
    revision = registered.position
    self.email = email
    self.externalID = externalID
    self.credential = credential
    credentialSet = credential == nil ? nil : registered
    self.registrationFingerprint = registrationFingerprint
    self.registered = registered
    self.sessions = sessions
    self.devices = devices
    openSessions = Set(sessions.lazy.filter { $0.value.isOpen }.map(\.key))
  }
}

extension User {
  /// A guest has a password and no other way to log in, so a guest who loses the password loses the account.
  package var isGuest: Bool { credential != nil && email == nil && externalID == nil && identities.isEmpty }

  /// Required for what guests may do only if the operator allows it.
  package func requireFullAccount() throws(Rejection) {
    if isGuest { throw .guestNotAllowed }
  }
}

extension User {
  /// Nil if the session has ended.
  func deviceOfOpenSession(_ id: SessionID) -> DeviceID? {
    guard case .open(let session) = sessions[id] else { return nil }
    return session.device
  }
}

extension Profile {
  package mutating func apply(_ edit: ProfileEdit) {
    if let nickname = edit.nickname { self.nickname = nickname }
    if let picture = edit.picture { self.picture = picture.media }
  }
}

/// A session, to which an access token and its refresh tokens belong.
package enum Session: Sendable, Hashable {
  case open(OpenSession)
  /// Never opened again.
  case ended(SessionEnd, Stamp)

  package var isOpen: Bool {
    switch self {
    case .open: true
    case .ended: false
    }
  }
}

package struct OpenSession: Sendable, Hashable {
  package var device: DeviceID?
  package var started: Stamp
  /// The generation of the newest pair of tokens; the first is 1. The pair before it remains valid until this one is
  /// presented, and presenting it creates the next. So exactly two generations are valid at any time.
  package var generation: UInt32
  /// Where the newest pair was issued.
  package var pair: Stamp

  package init(device: DeviceID?, started: Stamp, generation: UInt32, pair: Stamp) {
    self.device = device
    self.started = started
    self.generation = generation
    self.pair = pair
  }
}

package struct Device: Sendable, Hashable {
  package var description: DeviceDescription
  package var registered: Stamp
  /// Where it was last registered or updated, or lost a token.
  package var revision: LogPosition

  package init(description: DeviceDescription, registered: Stamp, revision: LogPosition) {
    self.description = description
    self.registered = registered
    self.revision = revision
  }
}

// MARK: - Evolve

extension User {
  package init(_ registration: Registration, _ stamp: Stamp) {
    self.init(
      profile: Profile(nickname: registration.nickname), email: registration.email, externalID: registration.externalID,
      credential: registration.credential, registrationFingerprint: registration.fingerprint, registered: stamp)
  }

  /// A user whose registration was erased. The ID stays in use, and nothing else is known.
  init(erasedAt stamp: Stamp) {
    self.init(
      profile: Profile(nickname: ""), email: nil, externalID: nil, credential: nil, registrationFingerprint: nil,
      registered: stamp)
  }

  mutating func apply(_ event: UserEvent, _ stamp: Stamp) {
    switch event {
    case .account(let event): apply(event, stamp)
    case .logins(let event): apply(event, stamp)
    case .sessions(let event): apply(event, stamp)
    case .devices(let event): apply(event, stamp)
    case .blocks(let event): apply(event, stamp)
    // The deletion itself replaces the state: see `UserDecider.evolve`.
    case .media, .deletion, .erased: break
    }
  }
}

// MARK: - Sessions

extension User {
  mutating func startSession(_ id: SessionID, _ device: DeviceID?, _ stamp: Stamp) {
    guard sessions[id] == nil else { return }
    sessions[id] = .open(OpenSession(device: device, started: stamp, generation: 1, pair: stamp))
    openSessions.insert(id)
  }

  mutating func refreshSession(_ id: SessionID, generation: UInt32, _ stamp: Stamp) {
    guard case .open(var session) = sessions[id] else { return }
    session.generation = generation
    session.pair = stamp
    sessions[id] = .open(session)
  }

  mutating func endSession(_ id: SessionID, _ reason: SessionEnd, _ stamp: Stamp) {
    if case .ended = sessions[id] { return }
    sessions[id] = .ended(reason, stamp)
    openSessions.remove(id)
  }

  mutating func removeEnded(_ id: SessionID) -> Ending? {
    guard case .ended(let reason, let stamp) = sessions[id] else { return nil }
    sessions[id] = nil
    return .session(reason, stamp)
  }

  mutating func addEnded(_ id: SessionID, _ reason: SessionEnd, _ stamp: Stamp) {
    if sessions[id] == nil { sessions[id] = .ended(reason, stamp) }
  }
}
