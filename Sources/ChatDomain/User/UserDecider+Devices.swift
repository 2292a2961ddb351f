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
    let sessions = user.openSessions.filter { session in
      guard case .open(let open) = user.sessions[session] else { return false }
      return open.device == id
    }
    return .record([.deviceRemoved(id)] + sessions.sorted().map { .sessionEnded($0, .deviceRemoved) })
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
