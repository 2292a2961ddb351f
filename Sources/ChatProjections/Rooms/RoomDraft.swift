import ChatDomain
import ChatPrimitives
import GRDB

/// One room in the middle of a batch: read once, changed in memory by any number of events, written once.
final class RoomDraft {
  let id: RoomID
  /// nil while the room does not exist.
  var row: RoomRow?
  private let wasStored: Bool
  private var isChanged = false
  private var members: [UserID: MemberDraft] = [:]
  private var deletions = DeletionDraft()

  init(_ id: RoomID, _ database: Database) throws {
    self.id = id
    row = try RoomsQueries(database).room(id)
    wasStored = row != nil
  }

  /// Changes the room's row; does nothing where there is no room.
  func change(_ body: (inout RoomRow) -> Void) {
    guard var row else { return }
    self.row = nil
    body(&row)
    self.row = row
    isChanged = true
  }

  func create(_ row: RoomRow) {
    guard self.row == nil else { return }
    self.row = row
    isChanged = true
  }

  /// Counts a deletion.
  /// - Returns: false when the message was deleted before.
  func delete(_ ordinal: UInt64, _ database: Database) throws -> Bool {
    guard try deletions.delete(ordinal, in: id, database) else { return false }
    change { $0.deletedCount += 1 }
    return true
  }

  // MARK: - Members

  func member(_ user: UserID, _ database: Database) throws -> MemberDraft {
    if let draft = members[user] { return draft }
    let draft = MemberDraft(try RoomsQueries(database).member(user, of: id))
    members[user] = draft
    return draft
  }

  // MARK: - Writing

  func write(_ database: Database) throws {
    if isChanged, let row {
      if wasStored { try row.update(database) } else { try row.insert(database) }
    }
    for (user, member) in members { try member.write(user, in: id, database) }
    try deletions.write(id, database)
  }
}

/// One membership in the middle of a batch.
final class MemberDraft {
  /// nil while the user is not a member.
  private(set) var row: MemberRow?
  private let stored: MemberRow?

  init(_ stored: MemberRow?) {
    self.stored = stored
    row = stored
  }

  func admit(_ row: MemberRow) { self.row = row }
  func dismiss() { row = nil }
  func change(_ body: (inout MemberRow) -> Void) {
    guard var row else { return }
    body(&row)
    self.row = row
  }

  func write(_ user: UserID, in room: RoomID, _ database: Database) throws {
    guard row != stored else { return }
    guard let row else {
      try CachedStatement(database, "DELETE FROM member WHERE roomId = ? AND userId = ?").run {
        $0.add(room)
        $0.add(user)
      }
      return
    }
    if stored == nil { try row.insert(database) } else { try row.update(database) }
  }
}

// MARK: - Rows into the file

extension RoomRow {
  fileprivate func insert(_ database: Database) throws {
    try CachedStatement(
      database,
      """
      INSERT INTO room (
        kind, lastOrdinal, memberCount, deletedCount, activity, archivedPosition, archivedTime, creator, fingerprint,
        createdPosition, createdTime, revision, name, lastMessageId, lastMessageSender, lastMessageSentAt,
        lastMessagePosition, lastMessageRevision, lastMessageEditedAt, lastMessageDeletedAt, lastMessageText, id
      ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """
    ).run(bindAll)
  }

  fileprivate func update(_ database: Database) throws {
    try CachedStatement(
      database,
      """
      UPDATE room SET
        kind = ?, lastOrdinal = ?, memberCount = ?, deletedCount = ?, activity = ?, archivedPosition = ?,
        archivedTime = ?, creator = ?, fingerprint = ?, createdPosition = ?, createdTime = ?, revision = ?, name = ?,
        lastMessageId = ?, lastMessageSender = ?, lastMessageSentAt = ?, lastMessagePosition = ?,
        lastMessageRevision = ?, lastMessageEditedAt = ?, lastMessageDeletedAt = ?, lastMessageText = ?
      WHERE id = ?
      """
    ).run(bindAll)
  }

  private func bindAll(_ binder: inout Binder) {
    binder.add(Int64(kind.rawValue))
    binder.add(lastOrdinal)
    binder.add(memberCount)
    binder.add(deletedCount)
    binder.add(activity)
    binder.add(archived)
    binder.add(creator)
    binder.add(creationFingerprint)
    binder.add(created)
    binder.add(revision)
    binder.add(name)
    binder.add(lastMessage?.id)
    binder.add(lastMessage?.sender)
    binder.add(lastMessage?.sentAt)
    binder.add(lastMessage?.position)
    binder.add(lastMessage?.revision)
    binder.add(lastMessage?.editedAt)
    binder.add(lastMessage?.deletedAt)
    binder.add(lastMessage?.text)
    binder.add(id)
  }
}

extension MemberRow {
  fileprivate func insert(_ database: Database) throws {
    try CachedStatement(
      database,
      """
      INSERT INTO member (role, joinedPosition, joinedTime, joinedOrdinal, marker, mutedUntil, roomId, userId)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)
      """
    ).run(bindAll)
  }

  fileprivate func update(_ database: Database) throws {
    try CachedStatement(
      database,
      """
      UPDATE member SET
        role = ?, joinedPosition = ?, joinedTime = ?, joinedOrdinal = ?, marker = ?, mutedUntil = ?
      WHERE roomId = ? AND userId = ?
      """
    ).run(bindAll)
  }

  private func bindAll(_ binder: inout Binder) {
    binder.add(role)
    binder.add(joined)
    binder.add(joinedOrdinal)
    binder.add(marker)
    binder.add(mutedUntil)
    binder.add(room)
    binder.add(user)
  }
}
