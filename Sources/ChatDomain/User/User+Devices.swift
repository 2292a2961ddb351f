package import ChatPrimitives

extension UserEvent {
  package enum Devices: Sendable, Equatable {
    case registered(DeviceID, DeviceDescription)
    case updated(DeviceID, DeviceDescription)
    case removed(DeviceID)
    /// The provider reported this token as dead.
    case tokenInvalidated(DeviceID, PushToken)
    /// Another device has the token now, so this one lost it.
    case tokenMoved(DeviceID, PushToken)
  }
}

/// What a device says of itself.
package struct DeviceDescription: Sendable, Hashable {
  package var name: String?
  /// Such as `ios` or `android`; free text.
  package var type: String?
  package var osVersion: String?
  package var tokens: [PushToken]
  /// Of what it wants to be told.
  package var notifications: NotificationLevel

  package init(
    name: String?, type: String?, osVersion: String?, tokens: [PushToken], notifications: NotificationLevel = .all
  ) {
    self.name = name
    self.type = type
    self.osVersion = osVersion
    self.tokens = tokens
    self.notifications = notifications
  }
}

/// Of what a device wants to be told. The raw values stand in the log; the names in the API.
package enum NotificationLevel: UInt8, Sendable, CaseIterable {
  case all = 1
  /// Only of messages that call the user by name, and those of direct rooms.
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

/// Where a provider reaches a device. A secret: never shown by any tool.
package struct PushToken: Sendable, Hashable {
  package var provider: PushProvider
  package var token: String

  package init(provider: PushProvider, token: String) {
    self.provider = provider
    self.token = token
  }

  /// By bytes, as the read models compare tokens.
  package static func == (one: PushToken, other: PushToken) -> Bool {
    one.provider == other.provider && one.token.utf8.elementsEqual(other.token.utf8)
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(provider)
    for byte in token.utf8 { hasher.combine(byte) }
  }
}

/// The raw values stand in the log.
package enum PushProvider: UInt8, Sendable, CaseIterable {
  case apns = 1
  case fcm = 2

  /// What the tools print.
  package var name: String {
    switch self {
    case .apns: "apns"
    case .fcm: "fcm"
    }
  }
}

extension UserEvent.Devices: EventFamily {
  package var fingerprint: Fingerprint? {
    switch self {
    case .registered(let id, let description), .updated(let id, let description): .deviceSetting(id, description)
    case .removed(let id): .deviceRemoval(id)
    case .tokenInvalidated(let id, let token): .tokenInvalidation(id, token)
    case .tokenMoved(let id, let token): .tokenMove(id, token)
    }
  }

  var textBytes: Int {
    switch self {
    case .registered(_, let description), .updated(_, let description): description.textBytes
    case .tokenInvalidated(_, let token), .tokenMoved(_, let token): token.token.byteCount
    case .removed: 0
    }
  }

  var isUpkeep: Bool {
    switch self {
    case .removed, .tokenInvalidated, .tokenMoved: true
    case .updated(_, let description): description.tokens.isEmpty
    case .registered: false
    }
  }
}

extension Fingerprint {
  static func deviceSetting(_ id: DeviceID, _ description: DeviceDescription) -> Fingerprint {
    let texts: [Field] = [
      .text("device.set"), .id(id.uuid), .text(description.name), .text(description.type),
      .text(description.osVersion),
    ]
    let level: [Field] = description.notifications == .all ? [] : [.number(Int64(description.notifications.rawValue))]
    return Fingerprint(texts + description.tokens.flatMap(fields) + level)
  }

  static func tokenInvalidation(_ id: DeviceID, _ token: PushToken) -> Fingerprint {
    Fingerprint([.text("device.token.invalidate"), .id(id.uuid)] + fields(token))
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

// MARK: - Decide

extension UserDecider {
  /// Recorded even when nothing changes: the event carries the idempotency key by which a late retry is known.
  static func setDevice(
    _ id: DeviceID, _ description: DeviceDescription, of user: User
  ) throws(Rejection) -> Decision<UserEvent> {
    try TextRules.device(description)
    if user.devices[id] != nil { return .record([.devices(.updated(id, description))]) }
    guard user.devices.count < Limits.devicesPerUser else { throw .tooManyDevices }
    return .record([.devices(.registered(id, description))])
  }

  /// A token that the device has replaced since must not be taken from it: then there is nothing to invalidate.
  static func invalidate(_ token: PushToken, of id: DeviceID, of user: User) throws(Rejection) -> Decision<UserEvent> {
    guard let device = user.devices[id], device.description.tokens.contains(token) else { throw .deviceNotFound }
    return .record([.devices(.tokenInvalidated(id, token))])
  }

  /// Ends the device's sessions with it, in the order of their IDs, so that the same command gives the same events.
  static func removeDevice(_ id: DeviceID, of user: User) throws(Rejection) -> Decision<UserEvent> {
    guard user.devices[id] != nil else { throw .deviceNotFound }
    let sessions = user.openSessions.filter { user.deviceOfOpenSession($0) == id }
    return .record([.devices(.removed(id))] + sessions.sorted().map { .sessions(.ended($0, .deviceRemoved)) })
  }

  /// What ended sessions leave behind: a device of which no session is open any more loses its push tokens, so that a
  /// phone that was logged out shows no message to whoever holds it. So does one whose session logs itself out, though an
  /// older one, whose tokens the app has lost, may be open still. The app brings them again after the next login. A device
  /// that never had a session, as those of users who come with another issuer's tokens, keeps them.
  static func silencing(after events: [UserEvent], of user: User, by context: CommandContext) -> [UserEvent] {
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

  /// What a device's tokens leave behind: a push token belongs to one device, and one that turns up elsewhere leaves its
  /// old place, another user's too. Recorded with the device's own event, after it.
  package static func movedTokens(
    to id: DeviceID, _ description: DeviceDescription, of user: UserID, _ directory: borrowing some Directory
  ) -> [ChatEvent] {
    var moved: [ChatEvent] = []
    for token in description.tokens {
      for place in directory.devices(holding: token) where place != DeviceReference(user: user, device: id) {
        moved.append(.user(place.user, .devices(.tokenMoved(place.device, token))))
      }
    }
    return moved
  }
}

// MARK: - Evolve

extension User {
  mutating func apply(_ event: UserEvent.Devices, _ stamp: Stamp) {
    switch event {
    case .registered(let id, let description):
      devices[id] = Device(description: description, registered: stamp, revision: stamp.position)
    case .updated(let id, let description):
      // The registration may have been erased; then this is the first that is known of the device.
      let registered = devices[id]?.registered ?? stamp
      devices[id] = Device(description: description, registered: registered, revision: stamp.position)
    case .tokenInvalidated(let id, let token), .tokenMoved(let id, let token):
      guard let index = devices[id]?.description.tokens.firstIndex(of: token) else { return }
      devices[id]?.description.tokens.remove(at: index)
      devices[id]?.revision = stamp.position
    case .removed(let id):
      devices[id] = nil
    }
  }
}
