/// The kinds of facts of a user's stream. Numbers stand in the log and are forever.
package enum UserEventKind: UInt16, Sendable, CaseIterable {
  case userRegistered = 1
  case profileChanged = 2
  case credentialSet = 3
  case identityLinked = 4
  case emailSet = 5
  case userDisabled = 6
  case userEnabled = 7
  case preferencesSet = 8
  case identityUnlinked = 9
  case sessionStarted = 10
  case sessionRefreshed = 11
  case sessionEnded = 12
  case deviceRegistered = 20
  case deviceUpdated = 21
  case pushTokenInvalidated = 22
  case deviceRemoved = 23
  case pushTokenMoved = 24
  case mediaUploaded = 40

  /// What the tools print and filter by.
  package var name: String {
    switch self {
    case .userRegistered: "user.registered"
    case .profileChanged: "profile.changed"
    case .credentialSet: "credential.set"
    case .identityLinked: "identity.linked"
    case .identityUnlinked: "identity.unlinked"
    case .emailSet: "email.set"
    case .userDisabled: "user.disabled"
    case .userEnabled: "user.enabled"
    case .preferencesSet: "preferences.set"
    case .sessionStarted: "session.started"
    case .sessionRefreshed: "session.refreshed"
    case .sessionEnded: "session.ended"
    case .deviceRegistered: "device.registered"
    case .deviceUpdated: "device.updated"
    case .pushTokenInvalidated: "push-token.invalidated"
    case .deviceRemoved: "device.removed"
    case .pushTokenMoved: "push-token.moved"
    case .mediaUploaded: "media.uploaded"
    }
  }
}
