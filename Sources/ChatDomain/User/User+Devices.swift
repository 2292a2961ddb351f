package import ChatPrimitives

extension UserEvent {
  package enum Devices: Sendable, Equatable {
    case registered(DeviceID, DeviceDescription)
    case updated(DeviceID, DeviceDescription)
    case removed(DeviceID)
    /// The provider reported this token as dead.
    case tokenInvalidated(DeviceID, PushToken)
    /// Another device has the token of this provider now. The event does not have the token, because it belongs to the
    /// user of the other device and would be erased with that user. A device has at most one token of each provider.
    case tokenTaken(DeviceID, PushProvider)
    /// What earlier versions recorded instead: the device loses all its tokens. The token is nil if it was erased.
    case tokenMoved(DeviceID, PushToken?)
  }
}

/// How a device describes itself.
package struct DeviceDescription: Sendable, Hashable {
  package var name: String?
  /// Such as `ios` or `android`; free text.
  package var type: String?
  package var osVersion: String?
  package var tokens: [PushToken]
  /// Which notifications the device wants.
  package var notifications: NotificationLevel
  /// Where its APNs token is valid; nil for the server's default.
  package var apnsEnvironment: APNsEnvironment?
  /// The language of its notifications, as a language tag (BCP 47).
  package var language: String?
  /// Whether it wants silent notifications of changes in rooms other than new messages.
  package var roomChanges: Bool

  package init(
    name: String?, type: String?, osVersion: String?, tokens: [PushToken], notifications: NotificationLevel = .all,
    apnsEnvironment: APNsEnvironment? = nil, language: String? = nil, roomChanges: Bool = false
  ) {
    self.name = name
    self.type = type
    self.osVersion = osVersion
    self.tokens = tokens
    self.notifications = notifications
    self.apnsEnvironment = apnsEnvironment
    self.language = language
    self.roomChanges = roomChanges
  }

  /// A device has at most one token of each provider.
  package func token(of provider: PushProvider) -> String? {
    tokens.last { $0.provider == provider }?.token
  }
}

/// Apple has two push services: one for apps from the App Store and TestFlight, one for apps under development. The raw
/// values are in the log; the names are in the API.
package enum APNsEnvironment: UInt8, NamedValue {
  case production = 1
  case sandbox = 2

  package var name: String {
    switch self {
    case .production: "production"
    case .sandbox: "sandbox"
    }
  }
}

/// Which notifications a device wants. The raw values are in the log; the names are in the API.
package enum NotificationLevel: UInt8, NamedValue {
  case all = 1
  /// Only those of messages that mention the user, and of messages in direct rooms.
  case mentions = 2
  case none = 3

  package var name: String {
    switch self {
    case .all: "all"
    case .mentions: "mentions"
    case .none: "none"
    }
  }
}

/// The address of a device at a push provider. It is a secret: no tool shows it.
package struct PushToken: Sendable, Hashable {
  package var provider: PushProvider
  package var token: String

  package init(provider: PushProvider, token: String) {
    self.provider = provider
    self.token = token
  }

  /// Compares bytes, as the read models do.
  package static func == (one: PushToken, other: PushToken) -> Bool {
    one.provider == other.provider && one.token.utf8.elementsEqual(other.token.utf8)
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(provider)
    for byte in token.utf8 { hasher.combine(byte) }
  }
}

/// The raw values are in the log. A device with tokens of several providers is notified through the first of them.
package enum PushProvider: UInt8, Sendable, CaseIterable {
  case apns = 1
  case fcm = 2
  /// Its tokens are subscriptions: see `WebPushSubscription`.
  case webPush = 3

  /// What the API and the tools show.
  package var name: String {
    switch self {
    case .apns: "apns"
    case .fcm: "fcm"
    case .webPush: "webPush"
    }
  }
}

extension UserEvent.Devices: EventFamily {
  package var fingerprint: Fingerprint? {
    switch self {
    case .registered(let id, let description), .updated(let id, let description): .deviceSetting(id, description)
    case .removed(let id): .deviceRemoval(id)
    case .tokenInvalidated(let id, let token): .tokenInvalidation(id, token)
    case .tokenTaken(let id, let provider): .tokenTaking(id, provider)
    case .tokenMoved(let id, let token): token.map { .tokenMove(id, $0) }
    }
  }

  var textBytes: Int {
    switch self {
    case .registered(_, let description), .updated(_, let description): description.textBytes
    case .tokenInvalidated(_, let token): token.token.byteCount
    case .tokenMoved(_, let token): token?.token.byteCount ?? 0
    case .removed, .tokenTaken: 0
    }
  }

  var isUpkeep: Bool {
    switch self {
    case .removed, .tokenInvalidated, .tokenTaken, .tokenMoved: true
    case .updated(_, let description): description.tokens.isEmpty
    case .registered: false
    }
  }
}

extension Fingerprint {
  /// Newer fields that a description does not use are left out, so that older descriptions keep their fingerprints.
  static func deviceSetting(_ id: DeviceID, _ description: DeviceDescription) -> Fingerprint {
    let texts: [Field] = [
      .text("device.set"), .id(id.uuid), .text(description.name), .text(description.type),
      .text(description.osVersion),
    ]
    let level: [Field] = description.notifications == .all ? [] : [.number(Int64(description.notifications.rawValue))]
    var later: [Field] = []
    if let environment = description.apnsEnvironment {
      later += [.text("apnsEnvironment"), .number(Int64(environment.rawValue))]
    }
    if let language = description.language { later += [.text("language"), .text(language)] }
    if description.roomChanges { later.append(.text("roomChanges")) }
    return Fingerprint(texts + description.tokens.flatMap(fields) + level + later)
  }

  static func tokenInvalidation(_ id: DeviceID, _ token: PushToken) -> Fingerprint {
    Fingerprint([.text("device.token.invalidate"), .id(id.uuid)] + fields(token))
  }

  static func tokenTaking(_ id: DeviceID, _ provider: PushProvider) -> Fingerprint {
    Fingerprint(.text("device.token.take"), .id(id.uuid), .number(Int64(provider.rawValue)))
  }

  static func tokenMove(_ id: DeviceID, _ token: PushToken) -> Fingerprint {
    Fingerprint([.text("device.token.move"), .id(id.uuid)] + fields(token))
  }

  static func deviceRemoval(_ id: DeviceID) -> Fingerprint {
    Fingerprint(.text("device.remove"), .id(id.uuid))
  }

  static func fields(_ token: PushToken) -> [Field] {
    [.number(Int64(token.provider.rawValue)), .text(token.token)]
  }
}

// MARK: - Commands

extension UserCommand {
  package enum Devices: Sendable, Equatable {
    case set(DeviceID, DeviceDescription)
    case invalidateToken(DeviceID, PushToken)
    case remove(DeviceID)
  }
}

extension UserCommand.Devices: AggregateCommand {
  package typealias Entity = UserCommand.Entity

  package func fingerprint(by actor: UserID?) -> Fingerprint {
    switch self {
    case .set(let id, let description): .deviceSetting(id, description)
    case .invalidateToken(let id, let token): .tokenInvalidation(id, token)
    case .remove(let id): .deviceRemoval(id)
    }
  }

  package var fieldFlaws: [FieldFlaw] {
    switch self {
    case .set(_, let description): description.fieldFlaws
    case .invalidateToken, .remove: []
    }
  }
}

extension DeviceDescription {
  package var fieldFlaws: [FieldFlaw] {
    var fields = FieldCheck()
    for (field, text) in [("/name", name), ("/type", type), ("/osVersion", osVersion)] {
      guard let text else { continue }
      fields.check(field) { () throws(Rejection) in try TextRules.deviceText(text) }
    }
    for token in tokens {
      fields.check(token.provider.field) { () throws(Rejection) in try TextRules.pushToken(token.token) }
    }
    if let language { fields.check("/language") { () throws(Rejection) in try TextRules.languageTag(language) } }
    return fields.flaws
  }
}

extension PushProvider {
  /// The field of the API with its token.
  fileprivate var field: String {
    switch self {
    case .apns: "/apnsToken"
    case .fcm: "/fcmToken"
    case .webPush: "/webPush"
    }
  }
}

// MARK: - Decide

extension UserDecider {
  func decide(_ command: UserCommand.Devices) throws(Rejection) -> Decision<UserEvent> {
    switch command {
    case .set(let id, let description): try set(id, description)
    case .invalidateToken(let id, let token): try invalidateToken(id, token)
    case .remove(let id): try remove(id)
    }
  }

  /// Recorded even when nothing changes: the event carries the idempotency key by which a late retry is recognised.
  private func set(_ device: DeviceID, _ description: DeviceDescription) throws(Rejection) -> Decision<UserEvent> {
    let user = try authorizedUser()
    if let done = try doneBefore() { return done }
    try description.fieldFlaws.requireNone()
    if let known = user.devices[device] {
      return .record([.devices(.updated(device, description))], revision: known.revision)
    }
    guard user.devices.count < Limits.devicesPerUser else { throw .tooManyDevices }
    return .record([.devices(.registered(device, description))])
  }

  /// If the device has a different token now, there is nothing to invalidate.
  private func invalidateToken(_ device: DeviceID, _ token: PushToken) throws(Rejection) -> Decision<UserEvent> {
    let user = try authorizedUser()
    guard context.isByService else { throw .serviceOnly }
    if let done = try doneBefore() { return done }
    guard user.devices[device]?.description.tokens.contains(token) == true else { throw .deviceNotFound }
    return .record([.devices(.tokenInvalidated(device, token))])
  }

  /// The device's sessions end with it, in the order of their IDs, so that the same command gives the same events.
  private func remove(_ device: DeviceID) throws(Rejection) -> Decision<UserEvent> {
    let user = try authorizedUser()
    if let done = try doneBefore() { return done }
    guard let known = user.devices[device] else { throw .deviceNotFound }
    let sessions = user.openSessions.filter { user.deviceOfOpenSession($0) == device }
    return .record(
      [.devices(.removed(device))] + sessions.sorted().map { .sessions(.ended($0, .deviceRemoved)) },
      revision: known.revision)
  }
}

// MARK: - Consequences

extension UserDecider {
  /// The push tokens that devices lose when sessions end. A device without an open session loses its tokens, so that a
  /// phone that was logged out shows no messages to the next person who uses it. A device also loses them when its
  /// session logs out while an older one is still open: the app has lost the older session's tokens. The app sends its
  /// push tokens again after the next login. A device that never had a session keeps them: its user has access tokens
  /// of another issuer.
  func silencing(after events: [UserEvent], of user: User) -> [UserEvent] {
    var (open, left) = (user.openSessions, Set<DeviceID>())
    var loggedOut: DeviceID?
    for case .sessions(.ended(let id, let reason)) in events {
      guard open.remove(id) != nil, let device = user.deviceOfOpenSession(id) else { continue }
      left.insert(device)
      if reason == .loggedOut, id == context.session { loggedOut = device }
    }
    guard !left.isEmpty else { return [] }
    left.subtract(open.compactMap { user.deviceOfOpenSession($0) })
    if let loggedOut { left.insert(loggedOut) }
    for event in events {
      if case .sessions(.started(_, let device?)) = event { left.remove(device) }
      if case .devices(.removed(let device)) = event { left.remove(device) }
    }
    return left.sorted().compactMap { id in
      guard var description = user.devices[id]?.description, !description.tokens.isEmpty else { return nil }
      description.tokens = []
      return .devices(.updated(id, description))
    }
  }

  /// A push token belongs to one device. A device that registers with it takes it from every other device, also from
  /// another user's. The other device keeps its tokens of other providers. These events are recorded after the device's
  /// own event, in the same command.
  package static func takenTokens(
    to id: DeviceID, _ description: DeviceDescription, of user: UserID, _ directory: borrowing some Directory
  ) -> [ChatEvent] {
    var taken: [ChatEvent] = []
    for token in description.tokens {
      for place in directory.devices(holding: token) where place != DeviceReference(user: user, device: id) {
        taken.append(.user(place.user, .devices(.tokenTaken(place.device, token.provider))))
      }
    }
    return taken
  }
}

// MARK: - Evolve

extension User {
  mutating func apply(_ event: UserEvent.Devices, _ stamp: Stamp) {
    switch event {
    case .registered(let id, let description):
      devices[id] = Device(description: description, registered: stamp, revision: stamp.position)
    case .updated(let id, let description):
      // If the registration was erased, this is the first event that is known of the device.
      let registered = devices[id]?.registered ?? stamp
      devices[id] = Device(description: description, registered: registered, revision: stamp.position)
    case .tokenTaken(let id, let provider):
      guard devices[id] != nil else { return }
      devices[id]?.description.tokens.removeAll { $0.provider == provider }
      devices[id]?.revision = stamp.position
    case .tokenMoved(let id, _):
      guard devices[id] != nil else { return }
      devices[id]?.description.tokens = []
      devices[id]?.revision = stamp.position
    case .tokenInvalidated(let id, let token):
      guard let index = devices[id]?.description.tokens.firstIndex(of: token) else { return }
      devices[id]?.description.tokens.remove(at: index)
      devices[id]?.revision = stamp.position
    case .removed(let id):
      devices[id] = nil
    }
  }
}
