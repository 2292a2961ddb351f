import ChatDomain
import ChatPrimitives
import GRDB

/// Profiles, credentials, external logins, and the events of the server's own stream.
extension AccountsWriter {
  func change(_ edit: ProfileEdit, of user: UserID, _ stamp: Stamp) throws {
    try CachedStatement(
      database,
      """
      UPDATE user SET nickname = COALESCE(?, nickname), nicknameCompared = COALESCE(?, nicknameCompared),
        picture = CASE WHEN ? THEN ? ELSE picture END, custom = NULLIF(COALESCE(?, custom), ''), revision = ?
      WHERE id = ?
      """
    ).run(
      edit.nickname, edit.nickname.map { NicknameForm.compared($0) }, edit.picture != nil, edit.picture?.media,
      edit.custom, stamp.position, user)
  }

  func set(_ edit: PreferencesEdit, of user: UserID) throws {
    try CachedStatement(
      database,
      """
      UPDATE user SET sharesReadMarkers = COALESCE(?, sharesReadMarkers),
        acceptsDirectMessages = COALESCE(?, acceptsDirectMessages),
        sharesPresence = COALESCE(?, sharesPresence), notifications = COALESCE(?, notifications),
        mutedKinds = COALESCE(?, mutedKinds), showsPreviews = COALESCE(?, showsPreviews),
        directRooms = COALESCE(?, directRooms), groupAdditions = COALESCE(?, groupAdditions)
      WHERE id = ?
      """
    ).run(
      edit.sharesReadMarkers, edit.acceptsDirectMessages, edit.sharesPresence,
      edit.notifications.map { Int64($0.rawValue) }, edit.mutedKinds.map { Int64($0.bits) }, edit.showsPreviews,
      edit.directRooms.map { Int64($0.rawValue) }, edit.groupAdditions.map { Int64($0.rawValue) }, user)
    guard let quiet = edit.quietHours else { return }
    try CachedStatement(database, "UPDATE user SET quietFrom = ?, quietTo = ?, quietTimeZone = ? WHERE id = ?")
      .run(
        (quiet.hours?.from.minutes).map { Int64($0) }, (quiet.hours?.to.minutes).map { Int64($0) },
        quiet.hours?.timeZone, user)
  }

  func set(_ credential: Credential, of user: UserID, _ stamp: Stamp) throws {
    try CachedStatement(
      database,
      """
      UPDATE user SET credentialVersion = ?, credentialHash = ?, credentialLogRounds = ?, credentialBlockSize = ?,
        credentialParallelism = ?, credentialPosition = ?, credentialTime = ?
      WHERE id = ?
      """
    ).run(
      Int64(credential.version), credential.hash, Int64(credential.logRounds), Int64(credential.blockSize),
      Int64(credential.parallelism), stamp, user)
  }

  /// If the identity is already linked, its first position and time are kept.
  func link(_ identity: Identity, to user: UserID, _ stamp: Stamp) throws {
    try CachedStatement(
      database,
      """
      INSERT INTO identity (issuer, subject, userId, linkedPosition, linkedTime) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT (issuer, subject) DO NOTHING
      """
    ).run(identity.issuer, identity.subject, user, stamp)
  }

  /// If the user is already disabled, the first position and time are kept.
  func disable(_ user: UserID, _ stamp: Stamp) throws {
    try CachedStatement(
      database, "UPDATE user SET disabledPosition = ?, disabledTime = ? WHERE id = ? AND disabledPosition IS NULL"
    ).run(stamp, user)
  }

  func apply(_ event: ServerEvent, _ stamp: Stamp) throws {
    switch event {
    case .signingKeyRotated(let generation):
      try CachedStatement(
        database,
        "INSERT INTO signingKey (generation, position, time) VALUES (?, ?, ?) ON CONFLICT (generation) DO NOTHING"
      ).run(Int64(generation), stamp)
    case .legalHoldPlaced(let hold):
      try LegalHoldRows(database).place(hold, stamp)
    case .legalHoldLifted(let lift):
      try LegalHoldRows(database).lift(lift)
    case .pushOutcomesRecorded, .erased:
      break
    }
  }
}
