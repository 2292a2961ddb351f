import ChatDomain
import ChatPrimitives
import GRDB

/// Applies one batch of events to `rooms`. A room's row and a member's marker are written once, however many messages
/// the batch has.
struct RoomsBatch {
  let database: Database
  private let moderation: ModerationWriter
  private let badges: BadgeTotals
  let contents: RoomsProjection.Contents
  private var bufferedRooms: [RoomID: BufferedRoom] = [:]
  /// The position of the event that is being applied, of a room or a user.
  private(set) var position = LogPosition.origin
  /// Users whom nobody blocks, remembered while the batch is applied.
  var unblocked: Set<UserID> = []

  init(_ database: Database, _ contents: RoomsProjection.Contents) {
    self.database = database
    self.contents = contents
    moderation = ModerationWriter(database)
    badges = BadgeTotals(database)
  }

  func flush() throws {
    for buffered in bufferedRooms.values { try buffered.write(badges, database) }
    try badges.flush()
  }

  private mutating func bufferedRoom(_ room: RoomID) throws -> BufferedRoom {
    if let buffered = bufferedRooms[room] { return buffered }
    let buffered = try BufferedRoom(room, database)
    bufferedRooms[room] = buffered
    return buffered
  }

  /// The rooms that a user joined last, at most `Limits.profileSpaces`. Writes what the batch has changed, so that the
  /// rooms are those at this event, wherever the batch began.
  mutating func roomsJoinedLast(by user: UserID) throws -> [BufferedRoom] {
    try flush()
    bufferedRooms = [:]
    let rooms = try CachedStatement(
      database,
      """
      SELECT roomId FROM member INDEXED BY member_by_user_join
      WHERE userId = ? AND EXISTS (SELECT 1 FROM room WHERE room.id = roomId)
      ORDER BY joinedPosition DESC LIMIT ?
      """
    ).all(user, Limits.profileSpaces) { try $0.id(RoomID.self) }
    return try rooms.map { try bufferedRoom($0) }
  }

  // MARK: - Users

  mutating func apply(_ event: UserEvent, of user: UserID, at position: LogPosition) throws {
    self.position = position
    switch event {
    case .account(.registered(let registration)):
      try Profiles.apply(ProfileEdit(nickname: registration.nickname), of: user, database)
    case .account(.profileChanged(let edit)):
      guard !edit.isEmpty else { break }
      try Profiles.apply(edit, of: user, database)
      try noteProfile(of: user)
    case .account(.preferencesSet(let edit)):
      guard let shares = edit.sharesReadMarkers, try HiddenReaders.set(!shares, user, database) else { break }
      try noteMarkers(of: user)
    case .blocks(let event):
      if case .blocked(let other) = event { unblocked.remove(other) }
      try Blockers.apply(event, of: user, at: position, database)
    case .deletion(.deleted):
      // The rooms that were deleted with the account may not be written yet.
      try flush()
      bufferedRooms = [:]
      try WorkspaceWriter.forgetCreations(by: user, database)
      try Profiles.forget(user, database)
      _ = try HiddenReaders.set(false, user, database)
      try ReportRows(database).forget(user)
      try CachedStatement(database, "DELETE FROM scheduled WHERE author = ?").run(user)
      try forgetChanges(of: user)
      try noteDeletion(of: user)
    case .account(.emailSet), .account(.disabled), .account(.enabled), .logins, .sessions, .devices, .media,
      .deletion(.erased), .erased:
      break
    }
  }

  // MARK: - Rooms

  mutating func apply(_ event: RoomEvent, in id: RoomID, _ recorded: RecordedEvent) throws {
    let room = try bufferedRoom(id)
    position = recorded.position
    if room.row == nil {
      try begin(room, with: event, recorded.stamp)
      try noteFindable(room)
      return
    }
    switch event {
    case .lifecycle(let event):
      try apply(event, to: room, recorded)
    case .sharing(.inviteCreated(let invite)):
      try InviteWriter(database).create(invite, in: id, recorded)
    case .sharing(.inviteRevoked(let invite)):
      try InviteWriter(database).revoke(invite, in: id, recorded.stamp)
    case .members(let event):
      try apply(event, to: room, recorded)
    case .messages(let message):
      try apply(message, to: room, recorded)
      if case .sent = message { try endScheduling(in: room, event, recorded.stamp) }
    case .annotations(.reactionAdded(_, let location, _, _, _)), .annotations(.reactionRemoved(_, let location, _, _)),
      .annotations(.pinned(_, let location)), .annotations(.unpinned(_, let location)):
      try noteReply(at: location, in: room)
    case .reading(.markerMoved(let user, let message, let ordinal)):
      try changeReading(of: user, in: room) { $0.read(to: message, ordinal: ordinal, recorded) }
    case .reading(.markedUnread(let user, let message, let ordinal)):
      try changeReading(of: user, in: room) { $0.unread = UnreadMark(ordinal: ordinal, message: message) }
    case .threads(.markerMoved(let user, let message, let location)):
      try readInThread(user, to: message, at: location, in: room, recorded.occurredAt)
    case .threads(.followingSet(let user, let root, let follows)):
      try setFollowing(user, root, follows, in: room)
    case .scheduling:
      room.noteScheduling()
      try ScheduledRows(database, contents).apply(event, in: id, recorded.stamp)
    case .reports(let event):
      if contents == .everything { try ReportRows(database).apply(event, in: id, of: room.row?.workspace, recorded) }
    case .erased:
      break
    }
    try noteChanges(event, in: room)
  }

  private func apply(_ event: RoomEvent.Lifecycle, to room: BufferedRoom, _ recorded: RecordedEvent) throws {
    switch event {
    case .created: break
    case .edited(let edit): try self.edit(room, edit, recorded.position)
    case .archived: try setArchived(recorded.stamp, of: room, recorded.position)
    case .restored: try setArchived(nil, of: room, recorded.position)
    case .deleted:
      try RoomCustom.remove(of: room.id, database)
      try ReportRows(database).close(room.id, recorded)
      try noteFindable(room)
      try noteDeletion(of: room, for: room.end(recorded.stamp, database))
    }
  }

  private func apply(_ event: RoomEvent.Members, to room: BufferedRoom, _ recorded: RecordedEvent) throws {
    let id = room.id
    switch event {
    case .admissionRepeated:
      break
    case .joined(let user, let role, let invite):
      try admit(user, role, to: room, .joined, recorded)
      if let invite { try InviteWriter(database).countUse(of: invite, in: id) }
    case .added(let user, let role):
      try admit(user, role, to: room, .added, recorded)
    case .left(let user):
      if try dismiss(user, from: room, recorded.stamp) { try moderation.note(.left, of: user, in: id, recorded) }
    case .removed(let user):
      if try dismiss(user, from: room, recorded.stamp) { try moderation.note(.removed, of: user, in: id, recorded) }
    case .banned(let user):
      _ = try dismiss(user, from: room, recorded.stamp)
      if try moderation.ban(user, in: id, recorded) { try moderation.note(.banned, of: user, in: id, recorded) }
    case .unbanned(let user):
      if try moderation.unban(user, in: id) { try moderation.note(.unbanned, of: user, in: id, recorded) }
    case .roleChanged(let user, let role):
      try changeRole(of: user, to: role, in: room, recorded)
    case .silenced(let user, let until):
      try room.member(user, database).change { $0.silencedUntil = until }
    case .muted(let user, let until):
      try room.member(user, database).change { $0.mutedUntil = until }
    case .notificationsSet(let user, let level):
      try room.member(user, database).change { $0.notifications = level }
    case .hidden(let user):
      try room.member(user, database).change { $0.isHidden = true }
    case .shown(let user):
      try room.member(user, database).change { $0.isHidden = false }
    }
  }

  private mutating func apply(_ event: RoomEvent.Messages, to room: BufferedRoom, _ recorded: RecordedEvent) throws {
    if case .sent = event { try endHiding(of: room) }
    switch event {
    case .sent(let message, let author, nil, let content):
      try send(message, author, content, in: room, recorded)
    case .sent(let message, let author, let thread?, let content):
      try sendInThread(message, in: thread, by: author, content, in: room, recorded)
    case .edited(_, let location, let edit):
      try noteReply(at: location, in: room)
      if location.isInThread {
        try noteThreadChange(at: location, in: room)
      } else {
        self.edit(location.ordinal, edit, in: room, recorded)
      }
      if let edit, edit.text == nil { break }
      guard try counts(at: location, in: room) else { break }
      let mentions = edit?.mentions ?? Mentions()
      let blocking =
        mentions.isEmpty ? .none : try blockingMembers(ofEditBy: recorded.actor, at: location, in: room)
      try changeMentions(mentions, at: location, except: blocking, in: room)
      try addMentionedFollowers(mentions, at: location, except: blocking, in: room)
    case .deleted(_, let location):
      if location.isInThread {
        try deleteInThread(location, in: room, isByService: recorded.actor == nil)
      } else {
        try delete(location.ordinal, in: room, recorded)
      }
    }
  }

  private func changeReading(of user: UserID, in room: BufferedRoom, _ body: (inout MemberRow) -> Void) throws {
    let member = try room.member(user, database)
    member.change(body)
    countReading(of: member, in: room)
  }

  /// Removes the row of a scheduled message that was sent.
  private func endScheduling(in room: BufferedRoom, _ event: RoomEvent, _ stamp: Stamp) throws {
    if try room.hasScheduled(database) { try ScheduledRows(database, contents).apply(event, in: room.id, stamp) }
  }

  /// The first event of a room is its creation. If that was erased, the room has no name.
  private func begin(_ room: BufferedRoom, with event: RoomEvent, _ stamp: Stamp) throws {
    let creation: RoomCreation?
    switch event {
    case .lifecycle(.created(let made)): creation = made
    case .erased: creation = nil
    case .lifecycle(.edited), .lifecycle(.archived), .lifecycle(.restored), .lifecycle(.deleted), .sharing, .members,
      .messages, .annotations, .reading, .threads, .scheduling, .reports:
      return
    }
    room.create(
      RoomRow(
        id: room.id, kind: creation?.kind ?? .group, name: creation?.name ?? "", creator: creation?.creator,
        creationFingerprint: creation?.fingerprint, created: stamp, workspace: creation?.workspace,
        isPublic: creation?.isPublic ?? false, topic: creation?.topic.flatMap { $0.isEmpty ? nil : $0 },
        revision: stamp.position, archived: nil, lastOrdinal: 0, memberCount: 0, deletedCount: 0,
        activity: stamp.position, changed: stamp.position, shown: stamp.position, lastMessage: nil))
    if let custom = creation?.custom, contents == .everything { try RoomCustom.set(custom, of: room.id, database) }
  }

  private func edit(_ room: BufferedRoom, _ edit: RoomEdit, _ position: LogPosition) throws {
    if let custom = edit.custom, contents == .everything { try RoomCustom.set(custom, of: room.id, database) }
    room.change {
      if let name = edit.name { $0.name = name }
      if let topic = edit.topic { $0.topic = topic.isEmpty ? nil : topic }
      edit.picture?.apply(to: &$0.picture)
      $0.revision = position
    }
  }

  private func setArchived(_ stamp: Stamp?, of room: BufferedRoom, _ position: LogPosition) throws {
    // Loads the members, because their rows contain the list that the room is in.
    _ = try room.trackedMembers(database)
    room.change {
      guard ($0.archived == nil) != (stamp == nil) else { return }
      $0.archived = stamp
      $0.revision = position
    }
  }

  // MARK: - Members

  private func changeRole(
    of user: UserID, to role: Role, in room: BufferedRoom, _ recorded: RecordedEvent
  ) throws {
    let member = try room.member(user, database)
    guard member.row != nil else { return }
    member.change { $0.role = role }
    if role == .owner { room.change { $0.hasHadOwner = true } }
    try moderation.note(.roleChanged, of: user, role, in: room.id, recorded)
  }

  private func admit(
    _ user: UserID, _ role: Role, to room: BufferedRoom, _ change: MembershipChange, _ recorded: RecordedEvent
  ) throws {
    let member = try room.member(user, database)
    guard member.row == nil, let row = room.row else { return }
    let last = row.lastOrdinal
    let isTracked = try TrackedRoom.isTracked(inRoomWith: row.tracked.count) { try badges.untracked(user) }
    member.admit(
      MemberRow(
        room: room.id, user: user, role: role, joined: recorded.stamp, joinedOrdinal: last, marker: last,
        mutedUntil: nil, notifications: nil, silencedUntil: try moderation.takeSilence(of: user, in: room.id),
        own: position, tracked: isTracked ? TrackedRoom(activity: row.activity, changed: position) : nil))
    if !isTracked { badges.changeUntracked(user, by: 1) }
    room.change {
      $0.memberCount += 1
      if isTracked { $0.tracked.append(user) }
      if role == .owner { $0.hasHadOwner = true }
    }
    try noteArrival(in: room)
    try moderation.note(change, of: user, role, in: room.id, recorded)
  }

  /// - Returns: false if the user was not a member.
  private func dismiss(_ user: UserID, from room: BufferedRoom, _ stamp: Stamp) throws -> Bool {
    let member = try room.member(user, database)
    guard let row = member.row else { return false }
    if let until = row.silencedUntil, until > stamp.time {
      try moderation.keepSilence(of: user, until: until, in: room.id, at: stamp.time)
    }
    member.dismiss()
    try unfollowAll(user, in: room.id)
    if row.tracked == nil { badges.changeUntracked(user, by: -1) }
    room.change {
      $0.memberCount -= 1
      $0.tracked.removeAll { $0 == user }
    }
    try noteDeparture(of: user, from: room)
    return true
  }

  // MARK: - Messages

  /// Any message, also in a thread, brings the room back into the lists of the members who have hidden it. A direct room
  /// has few members, who are all read.
  private func endHiding(of room: BufferedRoom) throws {
    guard let row = room.row, row.kind == .direct else { return }
    let isEveryoneTracked = row.tracked.count == row.memberCount
    for user in try isEveryoneTracked ? row.tracked : room.memberIDs(database) {
      let member = try room.member(user, database)
      guard member.row?.isHidden == true else { continue }
      member.change { $0.isHidden = false }
      if contents == .everything { try noteOwn(user, in: room) }
    }
  }

  private mutating func send(
    _ message: MessageID, _ author: UserID, _ content: MessageContent?, in room: BufferedRoom, _ recorded: RecordedEvent
  ) throws {
    var ordinal: UInt64 = 0
    room.change {
      $0.lastOrdinal += 1
      ordinal = $0.lastOrdinal
      $0.activity = recorded.position
      $0.lastMessage = MessageRow(
        room: room.id, id: message, ordinal: ordinal, sender: author, text: content?.text ?? "",
        details: content?.details, sentAt: recorded.occurredAt, position: recorded.position,
        revision: recorded.position, editedAt: nil, deletedAt: nil)
    }
    let isSilent = content?.isSilent ?? false
    let blocking = isSilent ? .none : try blockingMembers(of: author, in: room)
    if isSilent { _ = try room.uncount(ordinal, database) }
    try LeftOutMessages.add(blocking.members, .unread, at: .room(ordinal), in: room, database)
    try countMessage(isSilent ? .nobody : .everyone(except: blocking.members), in: room)
    let sender = try room.member(author, database)
    sender.change { $0.read(to: message, ordinal: ordinal, recorded) }
    countReading(of: sender, in: room)
    if !isSilent, let details = content?.details {
      try addMentions(details.mentions, at: .room(ordinal), except: blocking, to: room)
    }
  }

  /// Only the last message is stored in the room's row.
  private func edit(_ ordinal: UInt64, _ edit: MessageEdit?, in room: BufferedRoom, _ recorded: RecordedEvent) {
    guard let last = room.row?.lastMessage, last.ordinal == ordinal, last.deletedAt == nil else { return }
    room.change {
      $0.lastMessage?.edit(edit)
      $0.lastMessage?.editedAt = recorded.occurredAt
      $0.lastMessage?.revision = recorded.position
    }
  }

  private func delete(_ ordinal: UInt64, in room: BufferedRoom, _ recorded: RecordedEvent) throws {
    guard let last = room.row?.lastOrdinal, ordinal >= 1, ordinal <= last else { return }
    if try room.uncount(ordinal, database) {
      let leftOut = try LeftOutMessages.remove(.unread, at: .room(ordinal), from: room, database)
      try countDeletion(of: ordinal, except: leftOut, in: room)
      try removeMentions(at: .room(ordinal), from: room)
    }
    if let edited = room.row?.lastMessage, edited.ordinal == ordinal, edited.editedAt != nil,
      try Profiles.isForgotten(edited.sender, database)
    {
      // When it was edited is not known after a rebuild from a log without the user's edits.
      room.change { $0.lastMessage?.editedAt = nil }
    }
    guard ordinal == last, room.row?.lastMessage?.deletedAt == nil else { return }
    room.change {
      $0.lastMessage?.text = ""
      $0.lastMessage?.details = nil
      $0.lastMessage?.deletedAt = recorded.occurredAt
      $0.lastMessage?.revision = recorded.position
    }
  }
}

extension MemberRow {
  /// The marker only moves forward. Reading up to the unread mark or beyond removes that mark.
  fileprivate mutating func read(to message: MessageID, ordinal: UInt64, _ recorded: RecordedEvent) {
    if let mark = unread, mark.ordinal <= ordinal { unread = nil }
    guard ordinal > marker else { return }
    marker = ordinal
    read = ReadPoint(message: message, time: recorded.occurredAt)
    markerPosition = recorded.position
  }
}
