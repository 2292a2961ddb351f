import ChatDomain
import ChatPrimitives

/// One user.
struct ModelUser {
  let id: UserID
  var registration: Registration?
  var registered: Stamp?
  var profile: Profile?
  var custom: String?
  /// The position at which the profile or the email address was last changed.
  var revision = LogPosition.origin
  var email: String?
  var externalID: String?
  var credential: Credential?
  var identities: [Identity] = []
  var disabled: Stamp?
  var preferences = UserPreferences()
  /// The users whom the user blocks, the oldest block first.
  var blocks: [ModelBlock] = []
  /// In the order in which they began.
  var sessions: [ModelSession] = []
  /// In the order in which they were registered.
  var devices: [ModelDevice] = []
  /// Devices whose last open session has ended since they were last set.
  var loggedOut: Set<DeviceID> = []
  /// In the order in which they were uploaded.
  var media: [ModelMedia] = []

  /// Whether the user has only a password.
  var isGuest: Bool { registration != nil && email == nil && externalID == nil && identities.isEmpty }

  init(id: UserID) {
    self.id = id
  }

  func blocks(_ other: UserID) -> Bool { blocks.contains { $0.user == other } }
  func session(_ id: SessionID) -> ModelSession? { sessions.first { $0.id == id } }
  func device(_ id: DeviceID) -> ModelDevice? { devices.first { $0.id == id } }
  var openSessions: [ModelSession] { sessions.filter { $0.end == nil } }
}

struct ModelBlock: Equatable {
  let user: UserID
  let since: Stamp
}

struct ModelSession: Equatable {
  let id: SessionID
  let device: DeviceID?
  var generation: UInt32 = 1
  let started: Stamp
  /// When the newest token pair was issued.
  var pair: Stamp
  var end: SessionEnd?
  var ended: Stamp?
}

struct ModelMedia: Equatable {
  let id: MediaID
  let uploader: UserID
  let content: Media
  let name: String?
  let uploaded: Stamp
}

struct ModelDevice: Equatable {
  let id: DeviceID
  var description: DeviceDescription
  let registered: Stamp
  var revision: LogPosition
  var updatedAt: Timestamp
}

extension ModelUser {
  mutating func take(_ event: UserEvent, _ recorded: RecordedEvent) {
    switch event {
    case .account, .logins:
      takeAccount(event, recorded)
    case .sessions(.started(let session, let device)):
      sessions.append(ModelSession(id: session, device: device, started: recorded.stamp, pair: recorded.stamp))
    case .sessions(.refreshed(let session, let generation)):
      change(session) {
        $0.generation = generation
        $0.pair = recorded.stamp
      }
    case .sessions(.ended(let session, let reason)):
      let device = openSessions.first { $0.id == session }?.device
      change(session) {
        $0.end = reason
        $0.ended = recorded.stamp
      }
      if let device, !openSessions.contains(where: { $0.device == device }) { loggedOut.insert(device) }
    case .devices(.registered(let device, let description)):
      loggedOut.remove(device)
      devices.removeAll { $0.id == device }
      devices.append(
        ModelDevice(
          id: device, description: description, registered: recorded.stamp, revision: recorded.position,
          updatedAt: recorded.stamp.time))
    case .devices(.updated(let device, let description)):
      loggedOut.remove(device)
      change(device, recorded) { $0 = description }
    case .devices(.removed(let device)): devices.removeAll { $0.id == device }
    case .devices(.tokenTaken(let device, let provider)):
      change(device, recorded) { $0.tokens.removeAll { $0.provider == provider } }
    case .devices(.tokenMoved(let device, _)): change(device, recorded) { $0.tokens = [] }
    case .devices(.tokenInvalidated(let device, let token)):
      change(device, recorded) { $0.tokens.removeAll { $0 == token } }
    case .media(.uploaded(let id, let content, let name)):
      // A file that exists already is recorded again only for the key.
      if !media.contains(where: { $0.id == id }) {
        media.append(ModelMedia(id: id, uploader: self.id, content: content, name: name, uploaded: recorded.stamp))
      }
    case .blocks(.blocked(let other)):
      // An existing block is recorded again only for its key.
      if !blocks(other) { blocks.append(ModelBlock(user: other, since: recorded.stamp)) }
    case .blocks(.unblocked(let other)): blocks.removeAll { $0.user == other }
    case .deletion, .erased: break
    }
  }

  private mutating func takeAccount(_ event: UserEvent, _ recorded: RecordedEvent) {
    switch event {
    case .account(.registered(let registration)):
      self.registration = registration
      registered = recorded.stamp
      profile = Profile(nickname: registration.nickname)
      revision = recorded.position
      email = registration.email
      externalID = registration.externalID
      credential = registration.credential
    case .account(.profileChanged(let edit)):
      if let nickname = edit.nickname { profile?.nickname = nickname }
      if let picture = edit.picture { profile?.picture = picture.media }
      if let custom = edit.custom { self.custom = custom.isEmpty ? nil : custom }
      revision = recorded.position
    case .logins(.credentialSet(let credential)): self.credential = credential
    case .logins(.identityLinked(let identity)):
      // An identity that is linked already is recorded again only for the key.
      if !identities.contains(identity) { identities.append(identity) }
    case .logins(.identityUnlinked(let identity, _)): identities.removeAll { $0 == identity }
    case .account(.emailSet(let email)):
      self.email = email
      revision = recorded.position
    case .account(.disabled): disabled = disabled ?? recorded.stamp
    case .account(.enabled): disabled = nil
    case .account(.preferencesSet(let edit)):
      if let shares = edit.sharesReadMarkers { preferences.sharesReadMarkers = shares }
      if let accepts = edit.acceptsDirectMessages { preferences.acceptsDirectMessages = accepts }
      if let shares = edit.sharesPresence { preferences.sharesPresence = shares }
      if let level = edit.notifications { preferences.notifications = level }
      if let kinds = edit.mutedKinds { preferences.mutedKinds = kinds }
      switch edit.quietHours {
      case nil: break
      case .set(let hours): preferences.quietHours = hours
      case .remove: preferences.quietHours = nil
      }
      if let shows = edit.showsPreviews { preferences.showsPreviews = shows }
      if let rule = edit.directRooms { preferences.contacts.directRooms = rule }
      if let rule = edit.groupAdditions { preferences.contacts.groupAdditions = rule }
    case .sessions, .devices, .media, .blocks, .deletion, .erased:
      break
    }
  }

  private mutating func change(_ session: SessionID, _ body: (inout ModelSession) -> Void) {
    guard let index = sessions.firstIndex(where: { $0.id == session }) else { return }
    body(&sessions[index])
  }

  private mutating func change(
    _ device: DeviceID, _ recorded: RecordedEvent, _ body: (inout DeviceDescription) -> Void
  ) {
    guard let index = devices.firstIndex(where: { $0.id == device }) else { return }
    body(&devices[index].description)
    devices[index].revision = recorded.position
    devices[index].updatedAt = recorded.stamp.time
  }
}
