package import ChatPrimitives

extension UserDecider {
  /// Recorded even when nothing changes: the fact carries the idempotency key by which a late retry is known.
  static func setDevice(
    _ id: DeviceID, _ description: DeviceDescription, of user: User
  ) throws(Rejection) -> Verdict<UserEvent> {
    try TextRules.device(description)
    if user.devices[id] != nil { return .record([.deviceUpdated(id, description)]) }
    guard user.devices.count < Limits.devicesPerUser else { throw .tooManyDevices }
    return .record([.deviceRegistered(id, description)])
  }

  /// A token that the device has replaced since must not be taken from it: then there is nothing to invalidate.
  static func invalidate(_ token: PushToken, of id: DeviceID, of user: User) throws(Rejection) -> Verdict<UserEvent> {
    guard let device = user.devices[id], device.description.tokens.contains(token) else { throw .deviceNotFound }
    return .record([.pushTokenInvalidated(id, token)])
  }

  /// Ends the device's sessions with it, in the order of their IDs, so that the same command gives the same facts.
  static func removeDevice(_ id: DeviceID, of user: User) throws(Rejection) -> Verdict<UserEvent> {
    guard user.devices[id] != nil else { throw .deviceNotFound }
    let sessions = user.openSessions.filter { user.deviceOfOpenSession($0) == id }
    return .record([.deviceRemoved(id)] + sessions.sorted().map { .sessionEnded($0, .deviceRemoved) })
  }

  /// What ended sessions leave behind: a device of which no session is open any more loses its push tokens, so that a
  /// phone that was logged out shows no message to whoever holds it. So does one whose session logs itself out, though an
  /// older one, whose tokens the app has lost, may be open still. The app brings them again after the next login. A device
  /// that never had a session, as those of users who come with another issuer's tokens, keeps them.
  static func silencing(after facts: [UserEvent], of user: User, by act: Act) -> [UserEvent] {
    var (open, left) = (user.openSessions, Set<DeviceID>())
    var loggedOut: DeviceID?
    for case .sessionEnded(let id, let reason) in facts {
      guard open.remove(id) != nil, let device = user.deviceOfOpenSession(id) else { continue }
      left.insert(device)
      if reason == .loggedOut, id == act.session { loggedOut = device }
    }
    guard !left.isEmpty else { return [] }
    left.subtract(open.compactMap { user.deviceOfOpenSession($0) })
    if let loggedOut { left.insert(loggedOut) }
    for fact in facts {
      if case .sessionStarted(_, let device?) = fact { left.remove(device) }
      if case .deviceRemoved(let device) = fact { left.remove(device) }
    }
    return left.sorted().compactMap { id in
      guard var description = user.devices[id]?.description, !description.tokens.isEmpty else { return nil }
      description.tokens = []
      return .deviceUpdated(id, description)
    }
  }

  /// What a device's tokens leave behind: a push token belongs to one device, and one that turns up elsewhere leaves its
  /// old place, another user's too. Recorded with the device's own fact, after it.
  package static func movedTokens(
    to id: DeviceID, _ description: DeviceDescription, of user: UserID, _ directory: borrowing some Directory
  ) -> [ChatEvent] {
    var moved: [ChatEvent] = []
    for token in description.tokens {
      for place in directory.devices(holding: token) where place != DevicePlace(user: user, device: id) {
        moved.append(.user(place.user, .pushTokenMoved(place.device, token)))
      }
    }
    return moved
  }
}
