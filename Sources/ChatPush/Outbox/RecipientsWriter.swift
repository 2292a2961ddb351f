import ChatDomain
import ChatPrimitives
import ChatProjections
import GRDB

/// Writes who can be notified: devices with their tokens, preferences, and for each room the members who have a device.
///
/// The table `recipient` only has these members, so the cost of a message depends on the number of devices to notify,
/// and not on the number of members.
struct RecipientsWriter {
  private let database: Database
  private let recipients: RecipientQueries

  init(_ database: Database) {
    self.database = database
    recipients = RecipientQueries(database)
  }

  // MARK: - Users

  /// Whether the rooms' tables must be up to date before `apply`, because a user's first device adds the user to
  /// `recipient` for each of their rooms.
  func needsMembers(for event: UserEvent, of user: UserID) throws -> Bool {
    switch event {
    case .devices(.registered): return try !recipients.hasDevice(user)
    case .account, .logins, .sessions, .devices(.updated), .devices(.tokenInvalidated), .devices(.removed),
      .devices(.tokenTaken), .devices(.tokenMoved), .media, .blocks, .deletion, .erased:
      return false
    }
  }

  func apply(_ event: UserEvent, of user: UserID, at position: LogPosition) throws {
    switch event {
    case .devices(.registered(let device, let description)):
      let isFirst = try !recipients.hasDevice(user)
      try describe(device, of: user, description)
      // For a further device, the rooms' tables need not be up to date, and the user is already in `recipient`.
      guard isFirst else { return }
      try CachedStatement(
        database,
        "INSERT OR IGNORE INTO recipient (roomId, userId) "
          + "SELECT roomId, userId FROM member WHERE userId = ? AND roomId IN (SELECT id FROM room)"
      ).run(user)
    case .devices(.updated(let device, let description)):
      try describe(device, of: user, description)
    case .devices(.tokenInvalidated(let device, let token)):
      try invalidate(token, of: device, of: user)
    case .devices(.tokenTaken(let device, let provider)):
      try CachedStatement(
        database, "UPDATE pushDevice SET \(provider.column) = NULL WHERE userId = ? AND deviceId = ?"
      ).run(user, device)
    case .devices(.tokenMoved(let device, _)):
      try CachedStatement(
        database,
        """
        UPDATE pushDevice SET apnsToken = NULL, fcmToken = NULL, webPushToken = NULL WHERE userId = ? AND deviceId = ?
        """
      ).run(user, device)
    case .devices(.removed(let device)):
      try remove(device, of: user)
    case .account(.disabled):
      try CachedStatement(database, "INSERT OR IGNORE INTO disabledUser (userId) VALUES (?)").run(user)
    case .account(.enabled):
      try CachedStatement(database, "DELETE FROM disabledUser WHERE userId = ?").run(user)
    case .account(.preferencesSet(let edit)):
      try setPreferences(edit, of: user)
    case .deletion(.deleted):
      // The events after this one remove the devices. Notifications that wait are abandoned.
      try CachedStatement(database, "INSERT OR IGNORE INTO disabledUser (userId) VALUES (?)").run(user)
      try CachedStatement(database, "DELETE FROM pushPreference WHERE userId = ?").run(user)
      try CachedStatement(
        database, "UPDATE pushContent SET senderNickname = '', isDeleted = 1 WHERE sender = ?"
      ).run(user)
    case .account(.registered), .account(.profileChanged), .account(.emailSet), .logins, .sessions, .media, .blocks,
      .deletion(.erased), .erased:
      break
    }
  }

  private func setPreferences(_ edit: PreferencesEdit, of user: UserID) throws {
    var preferences =
      try CachedStatement(
        database,
        "SELECT notifications, mutedKinds, quietFrom, quietTo, timeZone, showsPreviews FROM pushPreference WHERE userId = ?"
      ).first(user, read: RecipientQueries.readPreferences) ?? UserPreferences()
    let before = preferences
    preferences.apply(edit)
    guard preferences != before else { return }
    let quiet = preferences.quietHours
    try CachedStatement(
      database,
      """
      INSERT OR REPLACE INTO pushPreference (
        userId, notifications, mutedKinds, quietFrom, quietTo, timeZone, showsPreviews
      ) VALUES (?, ?, ?, ?, ?, ?, ?)
      """
    ).run(
      user, Int64(preferences.notifications.rawValue), Int64(preferences.mutedKinds.bits),
      quiet.map { Int64($0.from.minutes) }, quiet.map { Int64($0.to.minutes) }, quiet?.timeZone,
      preferences.showsPreviews)
  }

  private func describe(
    _ device: DeviceID, of user: UserID, _ description: DeviceDescription
  ) throws {
    try CachedStatement(
      database,
      """
      INSERT INTO pushDevice (
        userId, deviceId, apnsToken, fcmToken, webPushToken, notifications, apnsEnvironment, language, roomChanges
      ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (userId, deviceId) DO UPDATE SET
        apnsToken = excluded.apnsToken, fcmToken = excluded.fcmToken, webPushToken = excluded.webPushToken,
        notifications = excluded.notifications, apnsEnvironment = excluded.apnsEnvironment,
        language = excluded.language, roomChanges = excluded.roomChanges
      """
    ).run(
      user, device, description.token(of: .apns), description.token(of: .fcm), description.token(of: .webPush),
      Int64(description.notifications.rawValue), description.apnsEnvironment.map { Int64($0.rawValue) },
      description.language, description.roomChanges)
  }

  /// Removes the token only if the device still has this exact token.
  private func invalidate(_ token: PushToken, of device: DeviceID, of user: UserID) throws {
    let column = token.provider.column
    try CachedStatement(
      database, "UPDATE pushDevice SET \(column) = NULL WHERE userId = ? AND deviceId = ? AND \(column) = ?"
    ).run(user, device, token.token)
  }

  private func remove(_ device: DeviceID, of user: UserID) throws {
    try CachedStatement(database, "DELETE FROM pushDevice WHERE userId = ? AND deviceId = ?").run(user, device)
    guard try !recipients.hasDevice(user) else { return }
    try CachedStatement(database, "DELETE FROM recipient WHERE userId = ?").run(user)
  }

  // MARK: - Rooms

  func apply(_ event: RoomEvent, in room: RoomID, at position: LogPosition) throws {
    switch event {
    case .members(.joined(let user, _, _)), .members(.added(let user, _)):
      try run("DELETE FROM formerMember WHERE roomId = ? AND userId = ?", room, user)
      guard try recipients.hasDevice(user) else { return }
      try run("INSERT OR IGNORE INTO recipient (roomId, userId) VALUES (?, ?)", room, user)
    case .members(.left(let user)), .members(.removed(let user)), .members(.banned(let user)):
      try run("DELETE FROM recipient WHERE roomId = ? AND userId = ?", room, user)
      try CachedStatement(
        database, "INSERT OR REPLACE INTO formerMember (roomId, userId, leftPosition) VALUES (?, ?, ?)"
      ).run(room, user, position)
    case .lifecycle, .sharing, .members(.admissionRepeated), .members(.roleChanged), .members(.unbanned),
      .members(.silenced), .members(.muted), .members(.notificationsSet), .members(.hidden), .members(.shown),
      .messages, .annotations, .reading, .threads,
      .scheduling, .reports, .erased:
      break
    }
  }

  /// Notes the first frequent event of a period in a crowded room, so that the others of the period lead to no
  /// `roomChange`.
  func note(_ event: PushEvent) throws {
    guard let room = event.room, try recipients.isFirstInCrowdedRoom(event) else { return }
    try CachedStatement(
      database, "INSERT OR REPLACE INTO crowdedChange (roomId, period, position) VALUES (?, ?, ?)"
    ).run(room, event.period, event.position)
  }

  private func run(_ sql: String, _ room: RoomID, _ user: UserID) throws {
    try CachedStatement(database, sql).run(room, user)
  }
}
