import ChatDomain
import ChatPrimitives

/// Notes where rooms and memberships last changed, so that a client can ask what changed after a position. Threads and
/// their followers are noted by the statements that change them.
///
/// `RoomRow.changed` moves with everything that the room's members mirror, and `shown` only with what the room itself
/// shows. So a reaction makes clients look into the room, but is no reason to send the room again.
extension RoomsBatch {
  /// Call this after the event was applied to the room. Departures are noted by `noteDeparture`, because most of these
  /// events do nothing if the user is not a member.
  func noteChanges(_ event: RoomEvent, in room: BufferedRoom) throws {
    guard contents == .everything else { return }
    switch event {
    case .lifecycle(.edited), .lifecycle(.archived), .lifecycle(.restored):
      try noteFindable(room)
      noteRoom(room)
    case .members(.roleChanged(let user, _)), .members(.silenced(let user, _)):
      try noteMember(user, in: room)
    case .members(.muted(let user, _)), .members(.notificationsSet(let user, _)), .members(.hidden(let user)),
      .members(.shown(let user)),
      .reading(.markedUnread(let user, _, _)):
      try noteOwn(user, in: room)
    case .reading(.markerMoved(let user, _, _)):
      try noteOwn(user, in: room)
      // In a large room, others do not follow this marker.
      if room.row?.largeSince == nil { noteContents(room) }
    case .messages(.sent(_, let author, nil, _)):
      try noteOwn(author, in: room)
      noteRoom(room)
    case .messages(.sent(_, _, .some, _)):
      noteContents(room)
    case .messages(.edited(_, let location, _)), .messages(.deleted(_, let location)):
      // The unread and mention counts of the room depend on its own timeline.
      location.isInThread ? noteContents(room) : noteRoom(room)
    case .annotations:
      noteContents(room)
    case .lifecycle(.created), .lifecycle(.deleted), .sharing, .members(.admissionRepeated), .members(.joined),
      .members(.added), .members(.left), .members(.removed), .members(.banned), .members(.unbanned), .threads,
      .scheduling, .reports, .erased:
      break
    }
  }

  /// Call this after the user was admitted.
  func noteArrival(in room: BufferedRoom) throws {
    guard contents == .everything else { return }
    room.change {
      if $0.memberCount > Limits.receiptMembers, $0.largeSince == nil { $0.largeSince = position }
    }
    try noteFindable(room)
    noteRoom(room)
  }

  /// Call this after the user's membership was removed.
  func noteDeparture(of user: UserID, from room: BufferedRoom) throws {
    guard contents == .everything else { return }
    try note(.room, room.id.uuid, in: .user(user))
    try note(.member, user.uuid, in: .room(room.id))
    try noteFindable(room)
    noteRoom(room)
  }

  /// Call this after the room was deleted.
  /// - Parameter members: those whose rows `BulkDeletion` does not see. It notes the deletion for the others.
  func noteDeletion(of room: BufferedRoom, for members: [UserID]) throws {
    guard contents == .everything else { return }
    for user in members { try note(.room, room.id.uuid, in: .user(user)) }
  }

  /// What users who are not members see of a public channel has changed. Call this after it was created and before it is
  /// deleted.
  func noteFindable(_ room: BufferedRoom) throws {
    guard contents == .everything, let row = room.row, row.isPublic, let workspace = row.workspace else { return }
    try note(.room, room.id.uuid, in: .workspace(workspace))
  }

  /// Call this after a user got a new nickname or picture.
  mutating func noteProfile(of user: UserID) throws {
    guard contents == .everything else { return }
    for room in try roomsJoinedLast(by: user) {
      try note(.user, user.uuid, in: .room(room.id))
      noteContents(room)
    }
    let workspaces = try CachedStatement(
      database,
      """
      SELECT workspaceId FROM workspaceMember INDEXED BY workspaceMember_by_user
      WHERE userId = ? AND (SELECT deletedPosition IS NULL FROM workspace WHERE id = workspaceId)
      ORDER BY joinedPosition DESC LIMIT ?
      """
    ).all(user, Limits.profileSpaces) { try $0.id(WorkspaceID.self) }
    for workspace in workspaces { try note(.user, user.uuid, in: .workspace(workspace)) }
  }

  /// Call this after an account was deleted. By then the user has left all rooms except direct rooms, so this notes the
  /// change for those who still see the user.
  mutating func noteDeletion(of user: UserID) throws {
    guard contents == .everything else { return }
    try noteProfile(of: user)
  }

  /// Removes what says that the user scheduled messages, changed the profile, or hid read markers: a rebuilt read model
  /// may never have had it. `noteDeletion` notes the change for those who still see the user.
  func forgetChanges(of user: UserID) throws {
    guard contents == .everything else { return }
    try Changes.remove(.scheduledMessage, in: .user(user), database)
    try Changes.removeProfile(of: user, database)
  }

  /// Call this after a user began to hide read markers, or to show them again.
  mutating func noteMarkers(of user: UserID) throws {
    guard contents == .everything else { return }
    for room in try roomsJoinedLast(by: user) where room.row?.largeSince == nil {
      try note(.readMarker, user.uuid, in: .room(room.id))
      noteContents(room)
    }
  }

  /// What the room shows has changed.
  private func noteRoom(_ room: BufferedRoom) { room.noteChange(at: position, isShown: true) }

  /// Something in the room has changed.
  private func noteContents(_ room: BufferedRoom) { room.noteChange(at: position, isShown: false) }

  /// What all members see of one member has changed.
  private func noteMember(_ user: UserID, in room: BufferedRoom) throws {
    guard try room.member(user, database).row != nil else { return }
    try noteOwn(user, in: room)
    try note(.member, user.uuid, in: .room(room.id))
    noteContents(room)
  }

  /// What one member alone sees has changed.
  func noteOwn(_ user: UserID, in room: BufferedRoom) throws {
    try room.member(user, database).noteChange(at: position)
  }

  private func note(_ type: ChangeType, _ id: UUIDBytes, in scope: ChangeScope) throws {
    try Changes.note(ChangedEntity(type: type, id: id), in: scope, at: position, database)
  }
}
