import ChatDomain
import ChatPrimitives
import GRDB

/// Applies the events of user streams, and of the server's stream, to the rows.
struct AccountsWriter {
  let database: Database

  init(_ database: Database) {
    self.database = database
  }

  /// - Parameter key: the idempotency key of the command that recorded the event.
  func apply(_ event: UserEvent, of user: UserID, _ stamp: Stamp, under key: CommandID?) throws {
    switch event {
    case .account(.registered(let registration)):
      try register(user, registration, stamp)
    case .account(.profileChanged(let edit)):
      try change(edit, of: user, stamp)
    case .logins(.credentialSet(let credential)):
      try set(credential, of: user, stamp)
    case .logins(.identityLinked(let identity)):
      try link(identity, to: user, stamp)
    case .logins(.identityUnlinked(_, let linked)):
      try CachedStatement(database, "DELETE FROM identity WHERE userId = ? AND linkedPosition = ?").run(user, linked)
    case .account(.emailSet(let email)):
      try CachedStatement(database, "UPDATE user SET email = ?, emailCompared = ?, revision = ? WHERE id = ?")
        .run(email, EmailForm.compared(email), stamp.position, user)
    case .account(.disabled):
      try disable(user, stamp)
    case .account(.enabled):
      try CachedStatement(database, "UPDATE user SET disabledPosition = NULL, disabledTime = NULL WHERE id = ?")
        .run(user)
    case .account(.preferencesSet(let edit)):
      try set(edit, of: user)
    case .sessions(.started(let session, let device)):
      try start(session, of: user, device, stamp)
    case .sessions(.refreshed(let session, let generation)):
      try refresh(session, of: user, generation, stamp)
    case .sessions(.ended(let session, let reason)):
      try end(session, of: user, reason, stamp, under: key)
    case .devices(.registered(let device, let description)):
      try describe(device, of: user, description, stamp, isNew: true)
    case .devices(.updated(let device, let description)):
      try describe(device, of: user, description, stamp, isNew: false)
    case .devices(.tokenInvalidated(let device, let token)):
      try invalidate(token, of: device, of: user, stamp)
    case .devices(.removed(let device)):
      try CachedStatement(database, "DELETE FROM device WHERE userId = ? AND id = ?").run(user, device)
    case .devices(.tokenTaken(let device, let provider)):
      try CachedStatement(
        database,
        "UPDATE device SET \(provider.column) = NULL, revision = ?, updatedTime = ? WHERE userId = ? AND id = ?"
      ).run(stamp, user, device)
    case .devices(.tokenMoved(let device, _)):
      try CachedStatement(
        database,
        """
        UPDATE device SET apnsToken = NULL, fcmToken = NULL, webPushToken = NULL, revision = ?, updatedTime = ?
        WHERE userId = ? AND id = ?
        """
      ).run(stamp, user, device)
    case .media(.uploaded):
      break
    case .blocks(let event):
      try BlockedUsers.apply(event, of: user, stamp, database)
    case .deletion(let event):
      try apply(event, of: user, stamp)
    case .erased:
      try register(user, nil, stamp)
    }
  }

  // MARK: - Users

  /// - Parameter registration: nil for an erased event. The first event of a stream is the registration, so an erased
  ///   one creates the user if there is none, and changes nothing otherwise.
  private func register(_ user: UserID, _ registration: Registration?, _ stamp: Stamp) throws {
    let credential = registration?.credential
    let preferences = UserPreferences()
    try CachedStatement(
      database,
      """
      INSERT INTO user (
        id, nickname, nicknameCompared, email, emailCompared, externalId, credentialVersion, credentialHash,
        credentialLogRounds, credentialBlockSize, credentialParallelism, credentialPosition, credentialTime,
        fingerprint, registeredPosition, registeredTime, revision, sharesReadMarkers, acceptsDirectMessages,
        sharesPresence, notifications, mutedKinds, showsPreviews, directRooms, groupAdditions
      ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING
      """
    ).run(
      user, registration?.nickname ?? "", registration.map { NicknameForm.compared($0.nickname) } ?? "",
      registration?.email, registration?.email.map { EmailForm.compared($0) },
      registration?.externalID, credential.map { Int64($0.version) }, credential?.hash,
      credential.map { Int64($0.logRounds) }, credential.map { Int64($0.blockSize) },
      credential.map { Int64($0.parallelism) }, credential.map { _ in stamp }, registration?.fingerprint, stamp,
      stamp.position, preferences.sharesReadMarkers, preferences.acceptsDirectMessages, preferences.sharesPresence,
      Int64(preferences.notifications.rawValue), Int64(preferences.mutedKinds.bits), preferences.showsPreviews,
      Int64(preferences.contacts.directRooms.rawValue), Int64(preferences.contacts.groupAdditions.rawValue))
  }

  // MARK: - Sessions

  private func start(_ session: SessionID, of user: UserID, _ device: DeviceID?, _ stamp: Stamp) throws {
    try CachedStatement(
      database,
      """
      INSERT INTO session (
        userId, id, deviceId, generation, startedPosition, startedTime, pairPosition, pairTime, newestTokenTime
      ) VALUES (?, ?, ?, 1, ?, ?, ?, ?, ?) ON CONFLICT (userId, id) DO NOTHING
      """
    ).run(user, session, device, stamp, stamp, stamp.time)
  }

  /// If the clock was set back, the newest pair is not the one whose access token expires last, so `newestTokenTime`
  /// keeps the latest time.
  private func refresh(_ session: SessionID, of user: UserID, _ generation: UInt32, _ stamp: Stamp) throws {
    try CachedStatement(
      database,
      """
      UPDATE session SET generation = ?, pairPosition = ?, pairTime = ?, newestTokenTime = max(newestTokenTime, ?)
      WHERE userId = ? AND id = ? AND endedReason IS NULL
      """
    ).run(Int64(generation), stamp, stamp.time, user, session)
  }

  /// A session whose start was erased still gets a row when it ends, so that its ID stays taken. A session that never
  /// started, whose end was recorded only for its idempotency key, gets no row: the `command` table of `ids` has the
  /// key.
  private func end(
    _ session: SessionID, of user: UserID, _ reason: SessionEnd, _ stamp: Stamp, under key: CommandID?
  ) throws {
    try CachedStatement(
      database,
      """
      UPDATE session SET endedReason = ?, endedPosition = ?, endedTime = ?
      WHERE userId = ? AND id = ? AND endedReason IS NULL
      """
    ).run(Int64(reason.rawValue), stamp, user, session)
    if let key, session == UserDecider.absentSession(for: key) { return }
    try CachedStatement(
      database,
      """
      INSERT INTO session (
        userId, id, generation, startedPosition, startedTime, pairPosition, pairTime, newestTokenTime, endedReason,
        endedPosition, endedTime
      ) VALUES (?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (userId, id) DO NOTHING
      """
    ).run(user, session, stamp, stamp, stamp.time, Int64(reason.rawValue), stamp)
  }

  // MARK: - Devices

  /// - Parameter isNew: a registration sets the time of registration; an update keeps it.
  private func describe(
    _ device: DeviceID, of user: UserID, _ description: DeviceDescription, _ stamp: Stamp, isNew: Bool
  ) throws {
    let registered = "registeredPosition = excluded.registeredPosition, registeredTime = excluded.registeredTime,"
    try CachedStatement(
      database,
      """
      INSERT INTO device (
        userId, id, name, type, osVersion, apnsToken, fcmToken, webPushToken, notifications, apnsEnvironment, language,
        roomChanges, registeredPosition, registeredTime, revision, updatedTime
      ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (userId, id) DO UPDATE SET
        name = excluded.name, type = excluded.type, osVersion = excluded.osVersion, apnsToken = excluded.apnsToken,
        fcmToken = excluded.fcmToken, webPushToken = excluded.webPushToken, notifications = excluded.notifications,
        apnsEnvironment = excluded.apnsEnvironment, language = excluded.language, roomChanges = excluded.roomChanges,
        \(isNew ? registered : "") revision = excluded.revision, updatedTime = excluded.updatedTime
      """
    ).run(
      user, device, description.name, description.type, description.osVersion, description.token(of: .apns),
      description.token(of: .fcm), description.token(of: .webPush), Int64(description.notifications.rawValue),
      description.apnsEnvironment.map { Int64($0.rawValue) }, description.language, description.roomChanges, stamp,
      stamp)
  }

  /// Removes the token only if the device still has this exact token.
  private func invalidate(_ token: PushToken, of device: DeviceID, of user: UserID, _ stamp: Stamp) throws {
    let column = token.provider.column
    try CachedStatement(
      database,
      """
      UPDATE device SET \(column) = NULL, revision = ?, updatedTime = ?
      WHERE userId = ? AND id = ? AND \(column) = ?
      """
    ).run(stamp, user, device, token.token)
  }
}
