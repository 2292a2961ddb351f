import ChatDomain
import ChatPrimitives
import GRDB

/// Profiles, credentials, logins elsewhere, and the server's own facts.
extension AccountsWriter {
  func change(_ edit: ProfileEdit, of user: UserID, _ stamp: Stamp) throws {
    try CachedStatement(
      database,
      """
      UPDATE user SET nickname = COALESCE(?, nickname), picture = CASE WHEN ? THEN ? ELSE picture END, revision = ?
      WHERE id = ?
      """
    ).run {
      $0.add(edit.nickname)
      $0.add(edit.picture == nil ? 0 : 1)
      $0.add(edit.picture?.media)
      $0.add(stamp.position)
      $0.add(user)
    }
  }

  func set(_ credential: Credential, of user: UserID, _ stamp: Stamp) throws {
    try CachedStatement(
      database,
      """
      UPDATE user SET credentialVersion = ?, credentialHash = ?, credentialLogRounds = ?, credentialBlockSize = ?,
        credentialParallelism = ?, credentialPosition = ?, credentialTime = ?
      WHERE id = ?
      """
    ).run {
      $0.add(Int64(credential.version))
      $0.add(credential.hash)
      $0.add(Int64(credential.logRounds))
      $0.add(Int64(credential.blockSize))
      $0.add(Int64(credential.parallelism))
      $0.add(stamp)
      $0.add(user)
    }
  }

  /// Where it was linked first stays.
  func link(_ identity: Identity, to user: UserID, _ stamp: Stamp) throws {
    try CachedStatement(
      database,
      """
      INSERT INTO identity (issuer, subject, userId, linkedPosition, linkedTime) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT (issuer, subject) DO NOTHING
      """
    ).run {
      $0.add(identity.issuer)
      $0.add(identity.subject)
      $0.add(user)
      $0.add(stamp)
    }
  }

  /// Since when: the first of several counts.
  func disable(_ user: UserID, _ stamp: Stamp) throws {
    try CachedStatement(
      database, "UPDATE user SET disabledPosition = ?, disabledTime = ? WHERE id = ? AND disabledPosition IS NULL"
    ).run {
      $0.add(stamp)
      $0.add(user)
    }
  }

  func apply(_ event: ServerEvent, _ stamp: Stamp) throws {
    switch event {
    case .signingKeyRotated(let generation):
      try CachedStatement(
        database,
        "INSERT INTO signingKey (generation, position, time) VALUES (?, ?, ?) ON CONFLICT (generation) DO NOTHING"
      ).run {
        $0.add(Int64(generation))
        $0.add(stamp)
      }
    case .pushOutcomesRecorded, .erased:
      break
    }
  }
}
