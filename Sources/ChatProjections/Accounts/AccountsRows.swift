package import ChatDomain
package import ChatPrimitives

/// A user, without the credential.
package struct UserRow: Sendable, Hashable {
  package var id: UserID
  package var nickname: String
  package var picture: MediaID?
  package var email: String?
  package var externalID: String?
  package var hasPassword: Bool
  /// A password is all that stands for the user: no e-mail address, no external ID, no login elsewhere.
  package var isGuest: Bool
  package var disabled: Stamp?
  /// nil when the registration was erased.
  package var registrationFingerprint: Fingerprint?
  package var registered: Stamp
  /// Where the profile or the e-mail address was last changed; the registration when neither ever was.
  package var revision: LogPosition
}

package struct IdentityRow: Sendable, Hashable {
  package var identity: Identity
  package var linked: Stamp
}

package struct SessionRow: Sendable, Hashable {
  package var id: SessionID
  package var device: DeviceID?
  /// Which pair of tokens is the newest; the first is 1.
  package var generation: UInt32
  package var started: Stamp
  /// Where the newest pair was issued.
  package var pair: Stamp
  package var end: SessionEndRow?
}

package struct SessionEndRow: Sendable, Hashable {
  package var reason: SessionEnd
  package var stamp: Stamp
}

package struct DeviceRow: Sendable, Hashable {
  package var id: DeviceID
  /// Its push tokens are in the order of the providers' raw values.
  package var description: DeviceDescription
  package var registered: Stamp
  /// Where it was last described, or lost a token.
  package var revision: LogPosition
  package var updatedAt: Timestamp
}
