package import ChatPrimitives

/// The facts of one user's stream. `erased` stands for any of them whose payload is gone, save those that have none.
package enum UserEvent: Sendable, Equatable {
  case registered(Registration)
  case profileChanged(ProfileEdit)
  /// A new password; its version is one more than that of the one before.
  case credentialSet(Credential)
  /// A login elsewhere stands for this user here.
  case identityLinked(Identity)
  /// It stands for nobody any more.
  /// - Parameters:
  ///   - identity: nil when the payload was erased.
  ///   - linked: where it was linked, which the envelope tells: so erasing this does not bring the login back.
  case identityUnlinked(Identity?, linked: LogPosition)
  case emailSet(String)
  /// May not log in, and none of the sessions goes on.
  case disabled
  case enabled
  case preferencesSet(UserPreferences)
  case sessionStarted(SessionID, device: DeviceID?)
  /// The session's tokens are now those of `generation`; the first pair is generation 1.
  case sessionRefreshed(SessionID, generation: UInt32)
  case sessionEnded(SessionID, SessionEnd)
  case deviceRegistered(DeviceID, DeviceDescription)
  case deviceUpdated(DeviceID, DeviceDescription)
  /// The provider called this token dead.
  case pushTokenInvalidated(DeviceID, PushToken)
  case deviceRemoved(DeviceID)
  /// The token turned up at another device, and so left this one.
  case pushTokenMoved(DeviceID, PushToken)
  /// - name: what the upload called itself, if anything.
  case mediaUploaded(MediaID, Media, name: String?)
  /// The payload was erased; the kind number is kept.
  case erased(kind: UInt16)
}

/// What a user is registered with.
package struct Registration: Sendable, Equatable {
  /// Bytes of a commitment key.
  package static let commitmentKeyBytes = 32

  package var nickname: String
  /// Lower-cased; unique. Never present without a credential; a guest has a credential and no address.
  package var email: String?
  /// The key that a team's own database has for the user; unique.
  package var externalID: String?
  package var credential: Credential?
  /// `commitmentKeyBytes` random bytes from which the salts of the author's records are made (see `docs/log-format.md`).
  package var commitmentKey: [UInt8]

  package init(
    nickname: String, email: String?, externalID: String?, credential: Credential?, commitmentKey: [UInt8]
  ) {
    self.nickname = nickname
    self.email = email
    self.externalID = externalID
    self.credential = credential
    self.commitmentKey = commitmentKey
  }

  /// The same request makes the same fingerprint: the commitment key, drawn anew for each, is left out.
  package var fingerprint: Fingerprint {
    Fingerprint(.text(nickname), .text(email), .text(externalID), .bytes(credential?.hash ?? []))
  }
}

/// What others see of a user.
package struct Profile: Sendable, Hashable {
  package var nickname: String
  package var picture: MediaID?

  package init(nickname: String, picture: MediaID? = nil) {
    self.nickname = nickname
    self.picture = picture
  }
}

/// What a change of the profile says: what is absent stays as it is.
package struct ProfileEdit: Sendable, Hashable {
  package var nickname: String?
  package var picture: PictureEdit?

  package init(nickname: String? = nil, picture: PictureEdit? = nil) {
    self.nickname = nickname
    self.picture = picture
  }

  package var isEmpty: Bool { nickname == nil && picture == nil }
}

extension PictureEdit {
  /// The picture after the change; nil without one.
  package var media: MediaID? {
    switch self {
    case .set(let media): media
    case .remove: nil
    }
  }
}

/// Who a user is elsewhere: unique across users.
package struct Identity: Sendable, Hashable {
  /// The `iss` of its ID tokens (OpenID Connect Core 1.0, section 2).
  package var issuer: String
  /// The `sub`.
  package var subject: String

  package init(issuer: String, subject: String) {
    self.issuer = issuer
    self.subject = subject
  }

  /// By bytes, as the names and the read models tell logins apart: two ways to write one letter are two logins.
  package static func == (one: Identity, other: Identity) -> Bool {
    one.issuer.utf8.elementsEqual(other.issuer.utf8) && one.subject.utf8.elementsEqual(other.subject.utf8)
  }

  package func hash(into hasher: inout Hasher) {
    for byte in issuer.utf8 { hasher.combine(byte) }
    for byte in subject.utf8 { hasher.combine(byte) }
  }
}

/// What a user wants of the server.
package struct UserPreferences: Sendable, Hashable {
  /// Others see how far the user has read.
  package var sharesReadMarkers: Bool

  package init(sharesReadMarkers: Bool = true) {
    self.sharesReadMarkers = sharesReadMarkers
  }
}

/// A password as scrypt leaves it. The salt is derived from the server's key and the user's ID, so that the same
/// password gives the same hash and a repeated registration can be recognised.
package struct Credential: Sendable, Hashable {
  /// Counts the passwords that the user has had, from 1.
  package var version: UInt32
  package var hash: [UInt8]
  /// scrypt's cost parameters (RFC 7914): N as its base-2 logarithm, r and p.
  package var logRounds: UInt8
  package var blockSize: UInt8
  package var parallelism: UInt8

  package init(version: UInt32, hash: [UInt8], logRounds: UInt8, blockSize: UInt8, parallelism: UInt8) {
    self.version = version
    self.hash = hash
    self.logRounds = logRounds
    self.blockSize = blockSize
    self.parallelism = parallelism
  }
}

/// Why a session ended. The raw values stand in the log.
package enum SessionEnd: UInt8, Sendable, CaseIterable {
  case loggedOut = 1
  /// A refresh token was used after its successor had been: one of the two users of it is a thief.
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
}
