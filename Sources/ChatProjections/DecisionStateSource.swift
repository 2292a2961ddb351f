package import ChatDomain
package import ChatPrimitives
import GRDB

/// The deciders' state after all events up to a position.
package struct RestoredState<Key: Hashable & Sendable, State: Sendable>: Sendable {
  package let states: [Key: State]
  /// Only the events after this position have to be applied to `states`.
  package let position: LogPosition
}

/// Restores the deciders' state from `accounts` and `rooms`, so that startup reads these files and the end of the log
/// instead of the whole log. Each file has its own checkpoint: a user's events are applied from the checkpoint of
/// `accounts` on, a room's events from that of `rooms` on.
package struct DecisionStateSource {
  private let models: ReadModels

  package init(_ models: ReadModels) {
    self.models = models
  }

  /// All users with their open sessions and their devices, from one snapshot. Blocks on the disk.
  package func users() throws -> RestoredState<UserID, UserState> {
    try models.accounts.readBlocking { try $0.states() }
  }

  /// The number of events in each user's stream. The server's own stream is under the zero UUID. Blocks on the disk.
  package func userVersions() throws -> [UUIDBytes: StreamVersion] {
    try models.accounts.readBlocking { try StreamVersions.all($0.database) }
  }

  /// Which key signs access tokens, and since when. Blocks on the disk.
  package func signingKeys() throws -> SigningKeyHistory {
    try models.accounts.readBlocking { try $0.signingKeys() }
  }

  /// All legal holds. Blocks on the disk.
  package func legalHolds() throws -> LegalHolds {
    try models.accounts.readBlocking { try $0.holdState() }
  }

  /// The number of events in the stream of each room that is not deleted. Blocks on the disk.
  package func roomVersions() throws -> [UUIDBytes: StreamVersion] {
    try models.rooms.readBlocking { try StreamVersions.all($0.database, of: "room") }
  }

  /// The ended sessions whose end, or whose newest token, is not older than `time`. Blocks on the disk.
  package func sessionsEnded(since time: Timestamp) throws -> [EndedSession] {
    try models.accounts.readBlocking { try $0.sessionsEnded(since: time) }
  }

  /// What users have used of their quotas on the newest day up to `now`. Blocks on the disk.
  package func usage(at now: Timestamp) throws -> DailyUsage {
    try models.usage.readBlocking { try $0.newestDay(at: now) }
  }

  /// The pinned messages of each room, as of the timeline's own checkpoint. Blocks on the disk.
  package func pins() throws -> [RoomID: [MessageID: PinnedMessage]] {
    try models.timeline.readBlocking { try $0.pins() }
  }

  /// All rooms that are not deleted, with their members, invites and bans, from one snapshot. Blocks on the disk.
  package func rooms() throws -> RestoredState<RoomID, RoomState> {
    try models.rooms.readBlocking { try $0.roomStates() }
  }

  /// All workspaces that are not deleted, with their members, links and invitations, from one snapshot of `rooms`. Each
  /// comes with the number of its events. Blocks on the disk.
  package func workspaces() throws -> RestoredState<WorkspaceID, (WorkspaceState, StreamVersion)> {
    try models.rooms.readBlocking { try $0.workspaceStates() }
  }
}

extension AccountsQueries {
  func states() throws -> RestoredState<UserID, UserState> {
    let sessions: [UserID: [SessionID: Session]] = try grouped(
      "SELECT userId, \(Self.sessionColumns) FROM session WHERE endedReason IS NULL ORDER BY userId", Self.readSession,
      { ($0.id, $0.state) })
    let devices: [UserID: [DeviceID: Device]] = try grouped(
      "SELECT userId, \(Self.deviceColumns) FROM device ORDER BY userId", Self.readDevice,
      { ($0.id, Device(description: $0.description, registered: $0.registered, revision: $0.revision)) })
    let identities: [UserID: [Identity: Stamp]] = try grouped(
      "SELECT userId, issuer, subject, linkedPosition, linkedTime FROM identity ORDER BY userId", Self.readIdentity,
      { ($0.identity, $0.linked) })
    let blocked: [UserID: [UserID: Stamp]] = try grouped(
      "SELECT userId, \(BlockedUsers.columns) FROM blockedUser ORDER BY userId", BlockedUsers.read,
      { ($0.user, $0.blocked) })
    var states: [UserID: UserState] = [:]
    // A dictionary that grows copies what it has, which takes a quarter of the time for many users.
    states.reserveCapacity(try database.rowCount(of: "user"))
    try CachedStatement(
      database,
      """
      SELECT id, nickname, picture, email, externalId, fingerprint, registeredPosition, registeredTime,
        revision, \(Self.credentialColumns), credentialPosition, credentialTime, disabledPosition, disabledTime,
        \(Self.preferenceColumns)
      FROM user WHERE deletedPosition IS NULL
      """
    ).forEach { row in
      var (id, user) = try Self.readState(&row, sessions, devices, identities)
      user.blockedUsers = blocked[id] ?? [:]
      states[id] = .registered(user)
    }
    for (user, row) in try allErasures() { states[user] = .deleted(row.state) }
    return RestoredState(states: states, position: try checkpoint().position)
  }

  private static func readState(
    _ row: inout RowReader, _ sessions: [UserID: [SessionID: Session]], _ devices: [UserID: [DeviceID: Device]],
    _ identities: [UserID: [Identity: Stamp]]
  ) throws -> (UserID, User) {
    let id: UserID = try row.id()
    let nickname = try row.text()
    let picture: MediaID? = try row.optional { try $0.id() }
    let (email, externalID) = try (row.optional { try $0.text() }, row.optional { try $0.text() })
    let fingerprint = try row.optional { try $0.fingerprint() }
    let (registered, revision) = try (row.stamp(), row.position())
    var user = User(
      profile: Profile(nickname: nickname, picture: picture), email: email, externalID: externalID,
      credential: try readCredential(&row), registrationFingerprint: fingerprint, registered: registered,
      sessions: sessions[id] ?? [:], devices: devices[id] ?? [:])
    user.revision = revision
    user.credentialSet = try row.optionalStamp()
    user.disabled = try row.optionalStamp()
    user.preferences = try readPreferences(&row)
    user.identities = identities[id] ?? [:]
    return (id, user)
  }

  func signingKeys() throws -> SigningKeyHistory {
    var history = SigningKeyHistory()
    try CachedStatement(database, "SELECT generation, position, time FROM signingKey").forEach { row in
      history.rotate(to: try row.narrow(), at: try row.stamp())
    }
    return history
  }
}

extension ReadModelQueries {
  /// Groups rows into one dictionary for each owner. The owner is the first column, and the rows must be ordered by it.
  func grouped<Owner, Row, Key: Hashable, Value>(
    _ sql: String, _ read: (inout RowReader) throws -> Row, _ entry: (Row) -> (Key, Value)
  ) throws -> [ID<Owner>: [Key: Value]] {
    var groups: [ID<Owner>: [Key: Value]] = [:]
    var current: (owner: ID<Owner>, group: [Key: Value])?
    try CachedStatement(database, sql).forEach { row in
      let owner: ID<Owner> = try row.id()
      let (key, value) = entry(try read(&row))
      if current?.owner == owner {
        current?.group[key] = value
      } else {
        if let current { groups[current.owner] = current.group }
        current = (owner, [key: value])
      }
    }
    if let current { groups[current.owner] = current.group }
    return groups
  }
}

extension SessionRow {
  fileprivate var state: Session {
    if let end { return .ended(end.reason, end.stamp) }
    return .open(OpenSession(device: device, started: started, generation: generation, pair: pair))
  }
}
