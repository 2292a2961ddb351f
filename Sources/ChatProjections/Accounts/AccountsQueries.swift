package import ChatDomain
package import ChatPrimitives
package import GRDB

/// The queries on `accounts`.
package struct AccountsQueries: ReadModelQueries {
  package let database: Database

  package init(_ database: Database) {
    self.database = database
  }

  // MARK: - Users

  static let userColumns =
    "id, nickname, picture, email, externalId, credentialVersion IS NOT NULL, "
    + "EXISTS (SELECT 1 FROM identity WHERE userId = user.id), disabledPosition, disabledTime, "
    + "deletedPosition, deletedTime, fingerprint, "
    + "registeredPosition, registeredTime, revision, custom"

  package func user(_ id: UserID) throws -> UserRow? {
    try CachedStatement(database, "SELECT \(Self.userColumns) FROM user WHERE id = ?")
      .first(id, read: Self.readUser)
  }

  package func user(externalID: String) throws -> UserRow? {
    try CachedStatement(database, "SELECT \(Self.userColumns) FROM user WHERE externalId = ?")
      .first(externalID, read: Self.readUser)
  }

  /// The user with this email address. An old log may contain the address twice, in two forms. Then the account with
  /// the lower-case form of `email` is preferred, otherwise the first one.
  /// - Parameter email: in any case and Unicode form.
  package func user(email: String) throws -> UserRow? {
    guard email.utf8.count <= Limits.emailBytes else { return nil }
    return try CachedStatement(
      database,
      "SELECT \(Self.userColumns) FROM user WHERE emailCompared = ? ORDER BY email = ? DESC, registeredPosition LIMIT 1"
    ).first(EmailForm.compared(email), email.lowercased(), read: Self.readUser)
  }

  /// The user that an external login is linked to.
  package func user(with identity: Identity) throws -> UserRow? {
    try CachedStatement(
      database,
      "SELECT \(Self.userColumns) FROM user WHERE id = (SELECT userId FROM identity WHERE issuer = ? AND subject = ?)"
    ).first(identity.issuer, identity.subject, read: Self.readUser)
  }

  static func readUser(_ row: inout RowReader) throws -> UserRow {
    let (id, nickname) = try (row.id(UserID.self), row.text())
    let picture: MediaID? = try row.optional { try $0.id() }
    let email = try row.optional { try $0.text() }
    let externalID = try row.optional { try $0.text() }
    let hasPassword = try row.number() == 1
    let hasIdentity = try row.number() == 1
    return try UserRow(
      id: id, nickname: nickname, picture: picture, email: email, externalID: externalID, hasPassword: hasPassword,
      isGuest: hasPassword && email == nil && externalID == nil && !hasIdentity, disabled: row.optionalStamp(),
      deleted: row.optionalStamp(),
      registrationFingerprint: row.optional { try $0.fingerprint() }, registered: row.stamp(),
      revision: row.position(), custom: row.optional { try $0.text() })
  }

  // MARK: - External logins

  /// In the order in which they were linked.
  package func identities(of user: UserID) throws -> [IdentityRow] {
    try CachedStatement(
      database,
      "SELECT issuer, subject, linkedPosition, linkedTime FROM identity WHERE userId = ? ORDER BY linkedPosition"
    ).all(user, read: Self.readIdentity)
  }

  static func readIdentity(_ row: inout RowReader) throws -> IdentityRow {
    try IdentityRow(identity: Identity(issuer: row.text(), subject: row.text()), linked: row.stamp())
  }

  // MARK: - Passwords

  /// What the user's password is checked against. Nil if the user has no password or does not exist.
  package func credential(of user: UserID) throws -> Credential? {
    let credential = try CachedStatement(database, "SELECT \(Self.credentialColumns) FROM user WHERE id = ?")
      .first(user, read: Self.readCredential)
    return credential ?? nil
  }

  static let credentialColumns =
    "credentialVersion, credentialHash, credentialLogRounds, credentialBlockSize, credentialParallelism"

  static func readCredential(_ row: inout RowReader) throws -> Credential? {
    if row.isNull {
      row.skip(5)
      return nil
    }
    return try Credential(
      version: row.narrow(), hash: row.bytes(), logRounds: row.narrow(), blockSize: row.narrow(),
      parallelism: row.narrow())
  }

  /// Nil if the user does not exist.
  package func preferences(of user: UserID) throws -> UserPreferences? {
    try CachedStatement(database, "SELECT \(Self.preferenceColumns) FROM user WHERE id = ?")
      .first(user, read: Self.readPreferences)
  }

  static let preferenceColumns =
    "sharesReadMarkers, acceptsDirectMessages, sharesPresence, notifications, mutedKinds, quietFrom, quietTo, "
    + "quietTimeZone, showsPreviews, directRooms, groupAdditions"

  static func readPreferences(_ row: inout RowReader) throws -> UserPreferences {
    try UserPreferences(
      sharesReadMarkers: row.number() != 0, acceptsDirectMessages: row.number() != 0,
      sharesPresence: row.number() != 0, notifications: row.choice(), mutedKinds: AlertKinds(bits: row.narrow()),
      quietHours: readQuietHours(&row), showsPreviews: row.number() != 0,
      contacts: ContactRules(directRooms: row.choice(), groupAdditions: row.choice()))
  }

  /// Nil if the columns are NULL.
  private static func readQuietHours(_ row: inout RowReader) throws -> QuietHours? {
    let from = try row.optional { TimeOfDay(minutes: try $0.narrow()) }
    let to = try row.optional { TimeOfDay(minutes: try $0.narrow()) }
    let timeZone = try row.optional { try $0.text() }
    guard let from = from ?? nil, let to = to ?? nil, let timeZone else { return nil }
    return QuietHours(from: from, to: to, timeZone: timeZone)
  }

  // MARK: - Sessions

  static let sessionColumns =
    "id, deviceId, generation, startedPosition, startedTime, pairPosition, pairTime, endedReason, endedPosition, endedTime"

  /// All sessions, open and ended, latest first.
  package func sessions(of user: UserID) throws -> [SessionRow] {
    try CachedStatement(
      database, "SELECT \(Self.sessionColumns) FROM session WHERE userId = ? ORDER BY startedPosition DESC, id"
    ).all(user, read: Self.readSession)
  }

  /// Open sessions, latest first. Does not read ended sessions, of which a user can have any number.
  package func openSessions(of user: UserID) throws -> [SessionRow] {
    try CachedStatement(
      database,
      """
      SELECT \(Self.sessionColumns) FROM session INDEXED BY session_open WHERE userId = ? AND endedReason IS NULL
      ORDER BY startedPosition DESC, id
      """
    ).all(user, read: Self.readSession)
  }

  package func session(_ id: SessionID, of user: UserID) throws -> SessionRow? {
    try CachedStatement(database, "SELECT \(Self.sessionColumns) FROM session WHERE userId = ? AND id = ?")
      .first(user, id, read: Self.readSession)
  }

  /// Whether the user has ever logged in on this device.
  package func hasSession(of user: UserID, on device: DeviceID) throws -> Bool {
    try CachedStatement(database, "SELECT 1 FROM session WHERE userId = ? AND deviceId = ? LIMIT 1")
      .exists(user, device)
  }

  static func readSession(_ row: inout RowReader) throws -> SessionRow {
    try SessionRow(
      id: row.id(), device: row.optional { try $0.id() }, generation: row.narrow(), started: row.stamp(),
      pair: row.stamp(),
      end: row.optional { try SessionEndRow(reason: $0.choice(), stamp: $0.stamp()) })
  }

  // MARK: - Changes

  /// The changes of the user's own entities, in the order of positions.
  package func changes(
    of user: UserID, after start: ChangeStart, through target: LogPosition, limit: Int
  ) throws -> [Change] {
    try Changes.page(in: .user(user), after: start, through: target, limit: limit, database)
  }

  /// Where one of the user's own entities last changed. Nil if no change of it was noted.
  package func changePosition(of entity: ChangedEntity, for user: UserID) throws -> LogPosition? {
    try Changes.position(of: entity, in: .user(user), database)
  }

  // MARK: - Devices

  static let deviceColumns =
    "id, name, type, osVersion, apnsToken, fcmToken, webPushToken, notifications, apnsEnvironment, language, "
    + "roomChanges, registeredPosition, registeredTime, revision, updatedTime"

  /// Ordered by registration.
  package func devices(of user: UserID) throws -> [DeviceRow] {
    try CachedStatement(
      database, "SELECT \(Self.deviceColumns) FROM device WHERE userId = ? ORDER BY registeredPosition, id"
    ).all(user, read: Self.readDevice)
  }

  package func device(_ id: DeviceID, of user: UserID) throws -> DeviceRow? {
    try CachedStatement(database, "SELECT \(Self.deviceColumns) FROM device WHERE userId = ? AND id = ?")
      .first(user, id, read: Self.readDevice)
  }

  static func readDevice(_ row: inout RowReader) throws -> DeviceRow {
    let id: DeviceID = try row.id()
    let name = try row.optional { try $0.text() }
    let type = try row.optional { try $0.text() }
    let osVersion = try row.optional { try $0.text() }
    let apns = try row.optional { PushToken(provider: .apns, token: try $0.text()) }
    let fcm = try row.optional { PushToken(provider: .fcm, token: try $0.text()) }
    let webPush = try row.optional { PushToken(provider: .webPush, token: try $0.text()) }
    let notifications: NotificationLevel = try row.choice()
    let apnsEnvironment: APNsEnvironment? = try row.optional { try $0.choice() }
    let language = try row.optional { try $0.text() }
    return try DeviceRow(
      id: id,
      description: DeviceDescription(
        name: name, type: type, osVersion: osVersion, tokens: [apns, fcm, webPush].compactMap { $0 },
        notifications: notifications, apnsEnvironment: apnsEnvironment, language: language,
        roomChanges: row.number() != 0),
      registered: row.stamp(), revision: row.position(), updatedAt: row.time())
  }
}
