import ChatDomain
import ChatPrimitives
import EventStore
import GRDB

/// One room during a batch: read once, changed in memory by any number of events, and written once.
final class BufferedRoom {
  let id: RoomID
  /// Nil while the room does not exist.
  var row: RoomRow?
  private let wasStored: Bool
  private var isChanged = false
  /// Whether `RoomRow.changed` or `activity` has moved, which the rows of all tracked members contain.
  private var hasMoved = false
  /// How many messages of this batch count as unread for the tracked members, except for those who skip some.
  private var unreadMessages: UInt64 = 0
  private var members: [UserID: BufferedMember] = [:]
  /// Set when the room is deleted in this batch.
  private var deleted: (stamp: Stamp, fingerprint: Fingerprint?, creator: UserID?, workspace: WorkspaceID?)?
  private var wasDeleted = false
  private var sets: [OrdinalOwner: BufferedOrdinalSet] = [:]
  /// Whether the room may have scheduled messages. Nil until it is looked up.
  private var mayHaveScheduled: Bool?

  init(_ id: RoomID, _ database: Database) throws {
    self.id = id
    row = try RoomsQueries(database).room(id)
    wasStored = row != nil
    if !wasStored { wasDeleted = try RoomsQueries(database).isDeleted(id) }
  }

  /// Whether the room is deleted. Its ID stays taken.
  var isGone: Bool { wasDeleted || deleted != nil }

  /// Changes the room's row. Does nothing if the room does not exist.
  func change(_ body: (inout RoomRow) -> Void) {
    guard var row else { return }
    self.row = nil
    body(&row)
    self.row = row
    isChanged = true
  }

  /// Notes that something in the room has changed.
  /// - Parameter isShown: whether the room itself shows it.
  func noteChange(at position: LogPosition, isShown: Bool) {
    row?.changed = position
    if isShown { row?.shown = position }
    (isChanged, hasMoved) = (true, true)
  }

  /// Notes that a message was sent.
  func noteActivity() { hasMoved = true }

  func create(_ row: RoomRow) {
    guard self.row == nil, !isGone else { return }
    self.row = row
    isChanged = true
  }

  /// Deletes the room. `BulkDeletion` removes its other rows later, except those of tracked members. These are few, and
  /// would otherwise appear in the room lists of their users.
  ///
  /// Rows of members who left in this batch are not left to `BulkDeletion` either, because it would note the deletion as
  /// the reason.
  /// - Returns: the members whose rows `BulkDeletion` does not see.
  func end(_ stamp: Stamp, _ database: Database) throws -> [UserID] {
    _ = try trackedMembers(database)
    let unseen = members.filter { $0.value.row != nil && (!$0.value.isStored || $0.value.isStoredAsTracked) }
    members = members.filter { $0.value.isStoredAsTracked || $0.value.isStored && $0.value.row == nil }
    for member in members.values { member.dismiss() }
    deleted = (stamp, row?.creationFingerprint, row?.creator, row?.workspace)
    row = nil
    sets = [:]
    return Array(unseen.keys)
  }

  /// Counts a message that was deleted, or a silent one that was sent.
  /// - Returns: false if the message did not count before either.
  func uncount(_ ordinal: UInt64, _ database: Database) throws -> Bool {
    guard try insert(ordinal, into: .deletions(in: id), database) else { return false }
    change { $0.deletedCount += 1 }
    return true
  }

  /// Whether a message that is sent may be a scheduled one. Looked up once per batch, because most rooms have no
  /// scheduled messages.
  func hasScheduled(_ database: Database) throws -> Bool {
    if let known = mayHaveScheduled { return known }
    let found =
      try CachedStatement(database, "SELECT EXISTS (SELECT 1 FROM scheduled WHERE roomId = ?)")
      .first(id) { try $0.number() == 1 } ?? false
    mayHaveScheduled = found
    return found
  }

  func noteScheduling() { mayHaveScheduled = true }

  // MARK: - Sets of ordinals

  func set(_ owner: OrdinalOwner) -> BufferedOrdinalSet { sets[owner] ?? BufferedOrdinalSet(owner) }

  /// - Returns: false if the ordinal was already in the set.
  func insert(_ ordinal: UInt64, into owner: OrdinalOwner, _ database: Database) throws -> Bool {
    try sets[owner, default: BufferedOrdinalSet(owner)].insert(ordinal, database)
  }

  func remove(_ ordinal: UInt64, from owner: OrdinalOwner, _ database: Database) throws {
    try sets[owner, default: BufferedOrdinalSet(owner)].remove(ordinal, database)
  }

  // MARK: - Members

  func member(_ user: UserID, _ database: Database) throws -> BufferedMember {
    let member: BufferedMember
    if let buffered = members[user] {
      member = buffered
    } else {
      member = BufferedMember(try RoomsQueries(database).member(user, of: id))
      members[user] = member
    }
    member.count(through: unreadMessages)
    return member
  }

  /// Counts a message as unread for the tracked members, except some. A member's row gets the count when it is needed, so
  /// that a message costs the same however many members are tracked.
  func countUnread(except users: Set<UserID>, _ database: Database) throws {
    let skipping = try (users.isEmpty ? [] : row?.tracked ?? []).filter { users.contains($0) }.map { user in
      try member(user, database)
    }
    unreadMessages += 1
    for member in skipping { member.skipMessage() }
  }

  /// Whether the user is a member at this point of the batch.
  /// - Parameter isStored: whether the membership is in the database, where the batch is not yet applied.
  func isMember(_ user: UserID, isStored: Bool) -> Bool { members[user].map { $0.row != nil } ?? isStored }

  /// All members at this point of the batch, in no order.
  func memberIDs(_ database: Database) throws -> [UserID] {
    let stored = try CachedStatement(database, "SELECT userId FROM member WHERE roomId = ?")
      .all(id) { try $0.id(UserID.self) }
    let admitted = members.lazy.filter { !$0.value.isStored && $0.value.row != nil }.map(\.key)
    return stored.filter { isMember($0, isStored: true) } + admitted
  }

  func trackedMembers(except users: Set<UserID> = [], _ database: Database) throws -> [BufferedMember] {
    try (row?.tracked ?? []).filter { !users.contains($0) }.map { try member($0, database) }
  }

  // MARK: - Writing

  func write(_ badges: BadgeTotals, _ database: Database) throws {
    if let deleted {
      try writeEnd(deleted.stamp, deleted.fingerprint, deleted.creator, database)
    }
    if isChanged, let row {
      if wasStored { try row.update(database) } else { try row.insert(database) }
    }
    // The sets come before the members, because `complete` counts with the stored sets.
    for set in sets.values { try set.write(database) }
    if hasMoved { _ = try trackedMembers(database) }
    for (user, member) in members {
      if let row { try member.complete(in: row, database) }
      badges.change(user, in: deleted?.workspace ?? row?.workspace, from: member.storedBadge, to: member.badge)
      try member.write(user, in: id, database)
    }
  }

  private func writeEnd(
    _ stamp: Stamp, _ fingerprint: Fingerprint?, _ creator: UserID?, _ database: Database
  ) throws {
    if wasStored { try CachedStatement(database, "DELETE FROM room WHERE id = ?").run(id) }
    try CachedStatement(
      database, "INSERT INTO deletedRoom (id, fingerprint, creator, position, time) VALUES (?, ?, ?, ?, ?)"
    ).run(id, fingerprint, creator, stamp)
    try BulkDeletion.note(id, .room, database)
  }
}

/// One membership during a batch.
final class BufferedMember {
  /// Nil while the user is not a member.
  private(set) var row: MemberRow?
  private let stored: MemberRow?
  /// Whether the counts of a tracked member are computed again when the batch is written.
  var isCountedAnew = false
  /// How many of `BufferedRoom.unreadMessages` the row includes, or skips.
  private var counted: UInt64 = 0

  init(_ stored: MemberRow?) {
    self.stored = stored
    row = stored
  }

  /// Adds the unread messages that the row does not include yet.
  fileprivate func count(through messages: UInt64) {
    guard counted < messages else { return }
    row?.tracked?.unreadCount += messages - counted
    counted = messages
  }

  fileprivate func skipMessage() { counted += 1 }

  func admit(_ row: MemberRow) { self.row = row }
  func dismiss() { row = nil }
  func noteChange(at position: LogPosition) { row?.own = position }
  func change(_ body: (inout MemberRow) -> Void) {
    guard var row else { return }
    body(&row)
    self.row = row
  }

  var isStored: Bool { stored != nil }
  var isStoredAsTracked: Bool { stored?.tracked != nil }
  var badge: BadgeRow { row?.badge ?? BadgeRow() }
  var storedBadge: BadgeRow { stored?.badge ?? BadgeRow() }

  /// Copies the room's final values of this batch into the row of a tracked member.
  func complete(in room: RoomRow, _ database: Database) throws {
    guard let member = row, var tracked = member.tracked else { return }
    tracked.activity = room.activity
    tracked.changed = max(room.changed, member.own)
    tracked.list = room.archived != nil ? .archived : member.isHidden ? .hidden : .open
    if isCountedAnew {
      let counts = try RoomsQueries(database).counted(member, in: room)
      (tracked.unreadCount, tracked.mentionCount) = (counts.unread, counts.mentions)
    }
    row?.tracked = tracked
  }

  func write(_ user: UserID, in room: RoomID, _ database: Database) throws {
    guard row != stored else { return }
    guard let row else {
      try CachedStatement(database, "DELETE FROM member WHERE roomId = ? AND userId = ?").run(room, user)
      return
    }
    guard let stored else { return try row.insert(database) }
    // SQLite writes every index that has a column which a statement sets, even to the same value.
    guard row.hasSameMembership(as: stored) else { return try row.update(database) }
    if row.reading != stored.reading { try row.updateReading(database) }
    if let tracked = row.tracked, tracked != stored.tracked { try tracked.update(user, in: room, database) }
  }
}

// MARK: - Rows into the file

extension RoomRow {
  fileprivate func insert(_ database: Database) throws {
    try write(
      """
      INSERT INTO room (
        kind, lastOrdinal, memberCount, deletedCount, activity, changed, shown, largeSince, archivedPosition,
        archivedTime, creator, fingerprint, createdPosition, createdTime, revision, workspaceId, isPublic, hasHadOwner,
        tracked, picture, topic, name,
        lastMessageId, lastMessageSender, lastMessageSentAt, lastMessagePosition, lastMessageRevision, lastMessageEditedAt,
        lastMessageDeletedAt, lastMessageDetails, lastMessageText, id
      ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """, database)
  }

  fileprivate func update(_ database: Database) throws {
    try write(
      """
      UPDATE room SET
        kind = ?, lastOrdinal = ?, memberCount = ?, deletedCount = ?, activity = ?, changed = ?, shown = ?,
        largeSince = ?, archivedPosition = ?, archivedTime = ?, creator = ?, fingerprint = ?, createdPosition = ?, createdTime = ?, revision = ?,
        workspaceId = ?, isPublic = ?, hasHadOwner = ?, tracked = ?, picture = ?, topic = ?, name = ?, lastMessageId = ?,
        lastMessageSender = ?, lastMessageSentAt = ?, lastMessagePosition = ?, lastMessageRevision = ?, lastMessageEditedAt = ?,
        lastMessageDeletedAt = ?, lastMessageDetails = ?, lastMessageText = ?
      WHERE id = ?
      """, database)
  }

  private func write(_ sql: String, _ database: Database) throws {
    let details: [UInt8]? = try lastMessage?.details.map(DetailsCodec.encode)
    let trackedIDs = tracked.flatMap(\.uuid.bytes)
    try CachedStatement(database, sql).run(
      Int64(kind.rawValue), lastOrdinal, memberCount, deletedCount, activity, changed, shown, largeSince, archived,
      creator, creationFingerprint, created, revision, workspace, isPublic, hasHadOwner, trackedIDs, picture, topic,
      name, lastMessage?.id,
      lastMessage?.sender, lastMessage?.sentAt, lastMessage?.position, lastMessage?.revision, lastMessage?.editedAt,
      lastMessage?.deletedAt, details, lastMessage?.text, id)
  }
}

extension MemberRow {
  fileprivate func insert(_ database: Database) throws {
    try write(
      """
      INSERT INTO member (
        role, joinedPosition, joinedTime, joinedOrdinal, marker, mutedUntil, notifications, isHidden, silencedUntil,
        markerMessageId, markerTime, unreadFrom, unreadMessageId, own, markerPosition, list, roomActivity, changed,
        unreadCount, mentionCount, roomId, userId
      ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """, database)
  }

  fileprivate func update(_ database: Database) throws {
    try write(
      """
      UPDATE member SET
        role = ?, joinedPosition = ?, joinedTime = ?, joinedOrdinal = ?, marker = ?, mutedUntil = ?,
        notifications = ?, isHidden = ?, silencedUntil = ?, markerMessageId = ?, markerTime = ?, unreadFrom = ?,
        unreadMessageId = ?, own = ?,
        markerPosition = ?, list = ?, roomActivity = ?, changed = ?, unreadCount = ?, mentionCount = ?
      WHERE roomId = ? AND userId = ?
      """, database)
  }

  /// The columns that reading and sending change. No index has them.
  fileprivate struct ReadingColumns: Hashable {
    var marker: UInt64
    var read: ReadPoint?
    var unread: UnreadMark?
    var own: LogPosition
    var markerPosition: LogPosition?
  }

  fileprivate var reading: ReadingColumns {
    get { ReadingColumns(marker: marker, read: read, unread: unread, own: own, markerPosition: markerPosition) }
    set {
      (marker, read, unread) = (newValue.marker, newValue.read, newValue.unread)
      (own, markerPosition) = (newValue.own, newValue.markerPosition)
    }
  }

  /// Whether the other row differs in nothing but `reading` and the values of a tracked member.
  fileprivate func hasSameMembership(as other: MemberRow) -> Bool {
    guard (tracked == nil) == (other.tracked == nil) else { return false }
    var other = other
    other.reading = reading
    other.tracked = tracked
    return other == self
  }

  fileprivate func updateReading(_ database: Database) throws {
    try CachedStatement(
      database,
      """
      UPDATE member SET
        marker = ?, markerMessageId = ?, markerTime = ?, unreadFrom = ?, unreadMessageId = ?, own = ?, markerPosition = ?
      WHERE roomId = ? AND userId = ?
      """
    ).run(
      marker, read?.message, read?.time, unread?.ordinal, unread?.message, own, markerPosition, room, user)
  }

  private func write(_ sql: String, _ database: Database) throws {
    try CachedStatement(database, sql).run(
      role, joined, joinedOrdinal, marker, mutedUntil, notifications.map { Int64($0.rawValue) }, isHidden,
      silencedUntil,
      read?.message, read?.time, unread?.ordinal, unread?.message, own, markerPosition,
      tracked.map { Int64($0.list.rawValue) }, tracked?.activity, tracked?.changed, tracked?.unreadCount,
      tracked?.mentionCount, room, user)
  }
}

extension TrackedRoom {
  /// Writes only the indexes that have these columns.
  fileprivate func update(_ user: UserID, in room: RoomID, _ database: Database) throws {
    try CachedStatement(
      database,
      """
      UPDATE member SET list = ?, roomActivity = ?, changed = ?, unreadCount = ?, mentionCount = ?
      WHERE roomId = ? AND userId = ?
      """
    ).run(Int64(list.rawValue), activity, changed, unreadCount, mentionCount, room, user)
  }
}
