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
  /// The user can log in only with a password: the account has no email address, no external ID and no external login.
  package var isGuest: Bool
  package var disabled: Stamp?
  /// When the account was deleted. Then the row has nothing else but the ID and the registration.
  package var deleted: Stamp?
  /// Nil if the registration was erased.
  package var registrationFingerprint: Fingerprint?
  package var registered: Stamp
  /// Where the profile or the email address was last changed; the registration if neither was ever changed.
  package var revision: LogPosition
  /// The app's own data, as canonical JSON; nil if there is none.
  package var custom: String?

  package var profile: Profile { Profile(nickname: nickname, picture: picture) }
}

package struct IdentityRow: Sendable, Hashable {
  package var identity: Identity
  package var linked: Stamp
}

package struct SessionRow: Sendable, Hashable {
  package var id: SessionID
  package var device: DeviceID?
  /// The number of the newest pair of tokens. The first is 1.
  package var generation: UInt32
  package var started: Stamp
  /// Where the newest pair of tokens was issued.
  package var pair: Stamp
  package var end: SessionEndRow?
}

package struct SessionEndRow: Sendable, Hashable {
  package var reason: SessionEnd
  package var stamp: Stamp
}

package struct DeviceRow: Sendable, Hashable {
  package var id: DeviceID
  /// Its push tokens are ordered by the providers' raw values.
  package var description: DeviceDescription
  package var registered: Stamp
  /// Where the device was last described or lost a push token.
  package var revision: LogPosition
  package var updatedAt: Timestamp
}
