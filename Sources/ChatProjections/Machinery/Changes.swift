package import ChatPrimitives
import GRDB

/// Where an entity last changed, for the entities whose own tables do not show it: those that were removed, and those
/// that belong to one user. `rooms` and `accounts` each have such a table, `change`.
///
/// A row only says that something changed. A reader looks the entity up: it is shown if it exists and the reader may see
/// it, and otherwise reported as removed. So a table has at most one row for each entity in each scope, however often
/// the entity changes. A row stays when its entity is removed; only a room's or workspace's own rows go with it.
enum Changes {
  static let table = "change"
  /// The ID that the column `entity` begins with, as SQL: of a scheduled message, the room's.
  static let firstID = "substr(entity, 1, \(UUIDBytes.byteCount))"

  static func createTable(_ database: Database) throws {
    try database.execute(
      sql: """
        CREATE TABLE change (
          scope BLOB NOT NULL,
          type INTEGER NOT NULL,
          entity BLOB NOT NULL,
          position INTEGER NOT NULL,
          PRIMARY KEY (scope, type, entity)
        ) STRICT, WITHOUT ROWID
        """)
  }

  static func createIndex(_ database: Database) throws {
    try database.execute(sql: "CREATE INDEX change_by_position ON change (scope, position, type, entity)")
  }

  /// Positions never decrease, so the last one is the newest.
  static func note(
    _ entity: ChangedEntity, in scope: ChangeScope, at position: LogPosition, _ database: Database
  ) throws {
    try CachedStatement(
      database,
      """
      INSERT INTO change (scope, type, entity, position) VALUES (?, ?, ?, ?) \(replacing)
      """
    ).run(scope.bytes, Int64(entity.type.rawValue), entity.bytes, position)
  }

  /// Inserts a row for each row of a table, before a bulk deletion removes these.
  /// - Parameter rows: the part of an SQL statement from `FROM` on.
  static func note<each Value: SQLBindable>(
    _ tombstone: BulkDeletion.Tombstone, ofRows rows: String, _ values: repeat each Value, in database: Database
  ) throws {
    try CachedStatement(
      database,
      """
      INSERT INTO change (scope, type, entity, position)
      SELECT CAST(char(\(ChangeScope.userLetter)) || \(tombstone.user) AS BLOB), \(tombstone.type.rawValue),
        \(tombstone.entity), \(tombstone.position)
      \(rows) \(replacing)
      """
    ).run(repeat each values)
  }

  /// Nobody asks any more what changed in the scope.
  static func removeAll(in scope: ChangeScope, _ database: Database) throws {
    try CachedStatement(database, "DELETE FROM change WHERE scope = ?").run(scope.bytes)
  }

  static func remove(_ type: ChangeType, in scope: ChangeScope, _ database: Database) throws {
    try CachedStatement(database, "DELETE FROM change WHERE scope = ? AND type = ?")
      .run(scope.bytes, Int64(type.rawValue))
  }

  /// The rows that say that others see something new of a user.
  private static let ofProfile = "type IN (\(ChangeType.readMarker.rawValue), \(ChangeType.user.rawValue))"

  static func createProfileIndex(_ database: Database) throws {
    try database.execute(sql: "CREATE INDEX change_of_profile ON change (entity) WHERE \(ofProfile)")
  }

  /// Removes what others see of a user from all scopes. Needs the index of `createProfileIndex`.
  static func removeProfile(of user: UserID, _ database: Database) throws {
    try CachedStatement(database, "DELETE FROM change INDEXED BY change_of_profile WHERE \(ofProfile) AND entity = ?")
      .run(user.uuid.bytes)
  }

  private static let replacing = "ON CONFLICT (scope, type, entity) DO UPDATE SET position = excluded.position"

  /// Where an entity last changed. Nil if no change of it was noted.
  static func position(
    of entity: ChangedEntity, in scope: ChangeScope, _ database: Database
  ) throws -> LogPosition? {
    try CachedStatement(database, "SELECT position FROM change WHERE scope = ? AND type = ? AND entity = ?")
      .first(scope.bytes, Int64(entity.type.rawValue), entity.bytes) { try $0.position() }
  }

  /// The changes of a scope, ordered by position, type and ID.
  /// - Parameters:
  ///   - start: changes after this are returned.
  ///   - target: changes up to this position are returned.
  static func page(
    in scope: ChangeScope, after start: ChangeStart, through target: LogPosition, limit: Int, _ database: Database
  ) throws -> [Change] {
    try CachedStatement(
      database,
      """
      SELECT type, entity, position FROM change
      WHERE scope = ? AND (position, type, entity) > (?, ?, ?) AND position <= ?
      ORDER BY position, type, entity LIMIT ?
      """
    ).all(scope.bytes, start.position, Int64(start.type), start.entity, target, limit) { row in
      let (type, ids) = try (row.choice(ChangeType.self), row.ids(MessageID.self).map(\.uuid))
      let entity = ChangedEntity(type: type, id: ids.last ?? .zero, room: ids.count > 1 ? ids[0] : .zero)
      return Change(entity: entity, position: try row.position())
    }
  }
}

/// Whom a change concerns: one user, or the members of a room or workspace.
package enum ChangeScope: Sendable, Hashable {
  case user(UserID)
  case room(RoomID)
  case workspace(WorkspaceID)

  static let userLetter = UInt8(ascii: "u")
  static let roomLetter = UInt8(ascii: "r")
  static let workspaceLetter = UInt8(ascii: "w")

  /// A letter and the ID: the column `scope`. The letter is needed because a user and a room can have the same ID.
  var bytes: [UInt8] {
    switch self {
    case .user(let id): [Self.userLetter] + id.uuid.bytes
    case .room(let id): [Self.roomLetter] + id.uuid.bytes
    case .workspace(let id): [Self.workspaceLetter] + id.uuid.bytes
    }
  }
}

/// The type of a changed entity. The raw values are in the table, and order the changes of one position.
package enum ChangeType: UInt8, Sendable, CaseIterable {
  case account = 1
  case preferences = 2
  case device = 3
  case session = 4
  case blockedUser = 5
  case workspace = 6
  case workspaceMember = 7
  case invitation = 8
  case scheduledMessage = 9
  case room = 10
  case member = 11
  case readMarker = 12
  case user = 13
}

/// An entity within a scope. The account and the preferences have the user's ID.
package struct ChangedEntity: Sendable, Hashable {
  package var type: ChangeType
  package var id: UUIDBytes
  /// The room of a scheduled message, whose ID may be in use in another room too; zero for other entities.
  package var room: UUIDBytes

  package init(type: ChangeType, id: UUIDBytes, room: UUIDBytes = .zero) {
    self.type = type
    self.id = id
    self.room = room
  }

  /// The column `entity`: the room, if there is one, and the ID.
  var bytes: [UInt8] { room == .zero ? id.bytes : room.bytes + id.bytes }
}

/// Where an entity last changed.
package struct Change: Sendable, Hashable {
  package var entity: ChangedEntity
  package var position: LogPosition

  package init(entity: ChangedEntity, position: LogPosition) {
    self.entity = entity
    self.position = position
  }
}

/// Where a page of changes starts: after a position, or after one change at it.
package struct ChangeStart: Sendable, Hashable {
  let position: LogPosition
  let type: UInt8
  let entity: [UInt8]

  /// After everything at this position.
  package static func after(_ position: LogPosition) -> ChangeStart {
    ChangeStart(position: position, type: .max, entity: [])
  }

  package static func after(_ change: Change) -> ChangeStart {
    ChangeStart(position: change.position, type: change.entity.type.rawValue, entity: change.entity.bytes)
  }
}
