import ChatDomain
import ChatPrimitives
import GRDB

/// One batch of events on its way into `rooms`. A room's row and a member's marker are written once, however many
/// messages came.
struct RoomsBatch {
  private let database: Database
  private var drafts: [RoomID: RoomDraft] = [:]

  init(_ database: Database) {
    self.database = database
  }

  func flush() throws {
    for draft in drafts.values { try draft.write(database) }
  }

  private mutating func draft(_ room: RoomID) throws -> RoomDraft {
    if let draft = drafts[room] { return draft }
    let draft = try RoomDraft(room, database)
    drafts[room] = draft
    return draft
  }

  // MARK: - Users

  func apply(_ event: UserEvent, of user: UserID) throws {
    switch event {
    case .registered(let registration):
      try Profiles.set(registration.nickname, of: user, database)
    case .profileChanged(let profile):
      try Profiles.set(profile.nickname, of: user, database)
    case .credentialSet, .identityLinked, .emailSet, .disabled, .enabled, .preferencesSet, .sessionStarted,
      .sessionRefreshed, .sessionEnded, .deviceRegistered, .deviceUpdated, .pushTokenInvalidated, .deviceRemoved,
      .pushTokenMoved, .mediaUploaded, .erased:
      break
    }
  }

  // MARK: - Rooms

  mutating func apply(_ event: RoomEvent, in id: RoomID, _ recorded: RecordedEvent) throws {
    let room = try draft(id)
    if room.row == nil {
      begin(room, with: event, recorded.stamp)
      return
    }
    switch event {
    case .created, .admissionRepeated, .erased:
      break
    case .edited(let edit):
      room.change {
        if let name = edit.name { $0.name = name }
        $0.revision = recorded.position
      }
    case .archived:
      room.change {
        guard $0.archived == nil else { return }
        $0.archived = recorded.stamp
        $0.revision = recorded.position
      }
    case .inviteCreated(let invite):
      try InviteWriter(database).create(invite, in: id, recorded)
    case .inviteRevoked(let invite):
      try InviteWriter(database).revoke(invite, in: id, recorded.stamp)
    case .memberJoined(let user, let role, let invite):
      try admit(user, role, to: room, recorded.stamp)
      if let invite { try InviteWriter(database).countUse(of: invite, in: id) }
    case .memberAdded(let user, let role):
      try admit(user, role, to: room, recorded.stamp)
    case .memberLeft(let user), .memberRemoved(let user):
      try dismiss(user, from: room)
    case .muted(let user, let until):
      try room.member(user, database).change { $0.mutedUntil = until }
    case .messageSent(let message, let author, let thread, let content):
      if thread == nil { try send(message, author, content?.text, in: room, recorded) }
    case .messageEdited(_, let place, let edit):
      if !place.isInThread { self.edit(place.ordinal, edit?.text, in: room, recorded) }
    case .messageDeleted(_, let place):
      if !place.isInThread { try delete(place.ordinal, in: room, recorded) }
    case .readMarkerMoved(let user, _, let ordinal):
      try room.member(user, database).change { $0.marker = max($0.marker, ordinal) }
    case .restored, .deleted, .roleChanged, .memberBanned, .memberUnbanned, .memberSilenced:
      break
    case .reactionAdded, .reactionRemoved, .messagePinned, .messageUnpinned, .threadMarkerMoved, .markedUnread,
      .threadFollowingSet, .messageScheduled, .scheduledMessageChanged, .scheduledMessageCancelled,
      .scheduledMessageFailed:
      break
    }
  }

  /// The first fact of a room is its creation; where that was erased, the room goes on without a name.
  private func begin(_ room: RoomDraft, with event: RoomEvent, _ stamp: Stamp) {
    let creation: RoomCreation?
    switch event {
    case .created(let made): creation = made
    case .erased: creation = nil
    case .edited, .archived, .restored, .deleted, .inviteCreated, .inviteRevoked, .memberJoined, .memberAdded,
      .admissionRepeated, .memberLeft, .memberRemoved, .roleChanged, .memberBanned, .memberUnbanned, .memberSilenced,
      .muted, .messageSent, .messageEdited, .messageDeleted, .reactionAdded, .reactionRemoved, .messagePinned,
      .messageUnpinned, .readMarkerMoved, .threadMarkerMoved, .markedUnread, .threadFollowingSet, .messageScheduled,
      .scheduledMessageChanged, .scheduledMessageCancelled, .scheduledMessageFailed:
      return
    }
    room.create(
      RoomRow(
        id: room.id, kind: creation?.kind ?? .group, name: creation?.name ?? "", creator: creation?.creator,
        creationFingerprint: creation?.fingerprint, created: stamp, revision: stamp.position, archived: nil,
        lastOrdinal: 0, memberCount: 0, deletedCount: 0, activity: stamp.position, lastMessage: nil))
  }

  // MARK: - Members

  private func admit(_ user: UserID, _ role: Role, to room: RoomDraft, _ stamp: Stamp) throws {
    let member = try room.member(user, database)
    guard member.row == nil, let last = room.row?.lastOrdinal else { return }
    member.admit(
      MemberRow(
        room: room.id, user: user, role: role, joined: stamp, joinedOrdinal: last, marker: last, mutedUntil: nil))
    room.change { $0.memberCount += 1 }
  }

  private func dismiss(_ user: UserID, from room: RoomDraft) throws {
    let member = try room.member(user, database)
    guard member.row != nil else { return }
    member.dismiss()
    room.change { $0.memberCount -= 1 }
  }

  // MARK: - Messages

  private func send(
    _ message: MessageID, _ author: UserID, _ text: String?, in room: RoomDraft, _ recorded: RecordedEvent
  ) throws {
    var ordinal: UInt64 = 0
    room.change {
      $0.lastOrdinal += 1
      ordinal = $0.lastOrdinal
      $0.activity = recorded.position
      $0.lastMessage = MessageRow(
        room: room.id, id: message, ordinal: ordinal, sender: author, text: text ?? "", sentAt: recorded.occurredAt,
        position: recorded.position, revision: recorded.position, editedAt: nil, deletedAt: nil)
    }
    try room.member(author, database).change { $0.marker = max($0.marker, ordinal) }
  }

  /// Only the last message stands in a room's row.
  private func edit(_ ordinal: UInt64, _ text: String?, in room: RoomDraft, _ recorded: RecordedEvent) {
    guard let last = room.row?.lastMessage, last.ordinal == ordinal, last.deletedAt == nil else { return }
    room.change {
      $0.lastMessage?.text = text ?? ""
      $0.lastMessage?.editedAt = recorded.occurredAt
      $0.lastMessage?.revision = recorded.position
    }
  }

  private func delete(_ ordinal: UInt64, in room: RoomDraft, _ recorded: RecordedEvent) throws {
    guard let last = room.row?.lastOrdinal, ordinal >= 1, ordinal <= last else { return }
    guard try room.delete(ordinal, database), ordinal == last else { return }
    room.change {
      $0.lastMessage?.text = ""
      $0.lastMessage?.deletedAt = recorded.occurredAt
      $0.lastMessage?.revision = recorded.position
    }
  }
}
