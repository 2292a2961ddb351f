package import ChatDomain
package import ChatPrimitives
import GRDB

/// The deciders' state as of a position: what the events up to there evolve to.
package struct RestoredState<Key: Hashable & Sendable, State: Sendable>: Sendable {
  package let states: [Key: State]
  /// Evolve what follows this in the log, and nothing before it.
  package let position: LogPosition
}

/// Restores the deciders' state from `accounts` and `rooms`, so that starting reads these and the log's tail, not the
/// whole log. Each of the two has its own checkpoint: a user's facts are evolved from that of `accounts` on, a room's
/// from that of `rooms`.
package struct DecisionStateSource {
  private let models: ReadModels

  package init(_ models: ReadModels) {
    self.models = models
  }

  /// Every user with sessions and devices, in one snapshot. Blocks on the disk.
  package func users() throws -> RestoredState<UserID, UserState> {
    try models.accounts.readBlocking { try $0.states() }
  }

  /// How many events each user's stream has; the server's own stands under the zero UUID. Blocks on the disk.
  package func userVersions() throws -> [UUIDBytes: StreamVersion] {
    try models.accounts.readBlocking { try StreamVersions.all($0.database) }
  }

  /// How many events each room's stream has. Blocks on the disk.
  package func roomVersions() throws -> [UUIDBytes: StreamVersion] {
    try models.rooms.readBlocking { try StreamVersions.all($0.database) }
  }

  /// What users have used on the newest day. Blocks on the disk.
  package func usage() throws -> DailyUsage {
    try models.usage.readBlocking { try $0.newestDay() }
  }

  /// Every room with members and invites, in one snapshot. Blocks on the disk.
  package func rooms() throws -> RestoredState<RoomID, RoomState> {
    try models.rooms.readBlocking { try $0.states() }
  }
}

extension AccountsQueries {
  func states() throws -> RestoredState<UserID, UserState> {
    let sessions: [UserID: [SessionID: Session]] = try grouped(
      "SELECT userId, \(Self.sessionColumns) FROM session ORDER BY userId", Self.readSession,
      { ($0.id, $0.state) })
    let devices: [UserID: [DeviceID: Device]] = try grouped(
      "SELECT userId, \(Self.deviceColumns) FROM device ORDER BY userId", Self.readDevice,
      { ($0.id, Device(description: $0.description, registered: $0.registered)) })
    var states: [UserID: UserState] = [:]
    try CachedStatement(
      database,
      """
      SELECT id, nickname, email, externalId, fingerprint, registeredPosition, registeredTime, \(Self.credentialColumns)
      FROM user
      """
    ).forEach { row in
      let id: UserID = try row.id()
      let (nickname, email) = try (row.text(), row.optional { try $0.text() })
      let externalID = try row.optional { try $0.text() }
      let fingerprint = try row.optional { try $0.fingerprint() }
      let registered = try row.stamp()
      states[id] = .registered(
        User(
          profile: Profile(nickname: nickname), email: email, externalID: externalID,
          credential: try Self.readCredential(&row),
          registrationFingerprint: fingerprint, registered: registered, sessions: sessions[id] ?? [:],
          devices: devices[id] ?? [:]))
    }
    return RestoredState(states: states, position: try checkpoint().position)
  }
}

extension RoomsQueries {
  func states() throws -> RestoredState<RoomID, RoomState> {
    let members: [RoomID: [UserID: Member]] = try grouped(
      "SELECT roomId, \(Self.memberColumns) FROM member ORDER BY roomId", Self.readMember, { ($0.user, $0.state) })
    let invites: [RoomID: [InviteID: InviteState]] = try grouped(
      "SELECT roomId, \(Self.inviteColumns) FROM invite ORDER BY roomId", Self.readInvite, { ($0.invite.id, $0.state) })
    var states: [RoomID: RoomState] = [:]
    try CachedStatement(
      database,
      """
      SELECT id, kind, lastOrdinal, archivedPosition, archivedTime, fingerprint, createdPosition, createdTime, name
      FROM room
      """
    ).forEach { row in
      let (id, kind) = try (row.id(RoomID.self), row.choice(RoomKind.self))
      let lastOrdinal = try row.unsigned()
      let archived = try row.optionalStamp()
      let fingerprint = try row.optional { try $0.fingerprint() }
      let created = try row.stamp()
      let room = Room(
        creationFingerprint: fingerprint, created: created, kind: kind, name: try row.text(),
        members: members[id] ?? [:], invites: invites[id] ?? [:], lastOrdinal: lastOrdinal)
      states[id] = archived.map { .archived(room, $0) } ?? .open(room)
    }
    return RestoredState(states: states, position: try checkpoint().position)
  }
}

extension ReadModelQueries {
  /// Rows that are ordered by their first column, gathered by it into dictionaries.
  fileprivate func grouped<Owner, Row, Key: Hashable, Value>(
    _ sql: String, _ read: (inout ColumnReader) throws -> Row, _ entry: (Row) -> (Key, Value)
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

extension MemberRow {
  fileprivate var state: Member {
    Member(role: role, joined: joined, joinedOrdinal: joinedOrdinal, marker: marker, mutedUntil: mutedUntil)
  }
}

extension InviteRow {
  fileprivate var state: InviteState {
    InviteState(invite: invite, created: created, uses: uses, revoked: revoked)
  }
}
