import ChatDomain
import ChatPrimitives

/// Laws that every event must satisfy, given those before it. They are the rules that no read model shows.
extension ChatModel {
  /// A device that is logged out but still has push tokens; nil if there is none. A logged-out phone must not show
  /// messages to the person who holds it, so a device without an open session has no push token until it is set again.
  /// This holds after every command, but not after every event, because the tokens are removed last.
  var loggedOutDeviceWithTokens: String? {
    for user in users.values {
      for device in user.devices where user.loggedOut.contains(device.id) && !device.description.tokens.isEmpty {
        return "d\(device.id.short) of u\(user.id.short) is logged out and keeps push tokens"
      }
    }
    return nil
  }

  /// The law that an event violates, worded to follow the event; nil if it violates none.
  func law(brokenBy recorded: RecordedEvent) -> String? {
    if let law = law(ofQuotasBrokenBy: recorded) { return law }
    return switch recorded.event {
    case .user(let id, let event): law(brokenBy: event, of: id)
    case .room(let id, let event): rooms[id].flatMap { law(brokenBy: event, in: $0, recorded) }
    case .workspace(let id, let event): workspaces[id].flatMap { law(brokenBy: event, in: $0) }
    case .server: nil
    }
  }

  /// No user exceeds the daily quotas. What a service does is not counted.
  private func law(ofQuotasBrokenBy recorded: RecordedEvent) -> String? {
    guard let user = recorded.actor, recorded.service == nil else { return nil }
    let used = usage(of: user, at: recorded.stamp.time)
    if case .room(_, .messages(.sent)) = recorded.event, let most = ModelFixture.quotas.messagesPerDay,
      used.messages >= most
    {
      return "is one message more than the day allows"
    }
    if case .user(_, .media(.uploaded(_, let content, _))) = recorded.event,
      let most = ModelFixture.quotas.mediaBytesPerDay, used.mediaBytes + content.size > most
    {
      return "is more bytes than the day allows"
    }
    return nil
  }

  private func law(brokenBy event: UserEvent, of id: UserID) -> String? {
    let user = users[id]
    switch event {
    case .blocks(.blocked(let other)):
      if other == id { return "blocks the user itself" }
      return users[other]?.registration == nil ? "blocks nobody" : nil
    case .blocks(.unblocked(let other)): return user?.blocks(other) == true ? nil : "unblocks who is not blocked"
    case .account(.registered): return user?.registration == nil ? nil : "registers a user twice"
    case .sessions(.started(let session, _)):
      if user?.disabled != nil { return "starts a session of a disabled user" }
      return user?.session(session) == nil ? nil : "starts a session twice"
    case .sessions(.refreshed(let session, let generation)):
      guard let session = user?.session(session), session.end == nil else { return "refreshes no open session" }
      return generation == session.generation + 1 ? nil : "skips a generation"
    case .sessions(.ended(let session, .othersLoggedOut)), .sessions(.ended(let session, .allLoggedOut)):
      // If there was nothing to end, the event is recorded only for the key.
      return user?.session(session)?.end == nil ? nil : "ends no open session"
    case .sessions(.ended(let session, _)):
      return user?.session(session)?.end == nil && user?.session(session) != nil ? nil : "ends no open session"
    case .devices(.registered(let device, _)): return user?.device(device) == nil ? nil : "registers a device twice"
    case .devices(.updated(let device, _)): return user?.device(device) == nil ? "updates no device" : nil
    case .devices(.removed(let device)): return user?.device(device) == nil ? "removes no device" : nil
    case .logins(.credentialSet(let credential)):
      return credential.version == (user?.credential?.version ?? 0) + 1 ? nil : "skips a version of the password"
    case .logins(.identityUnlinked(let identity, _)):
      return identity.map { user?.identities.contains($0) == true } == true ? nil : "unlinks what is not linked"
    case .account(.profileChanged), .account(.emailSet), .account(.disabled), .account(.enabled),
      .account(.preferencesSet), .logins(.identityLinked), .devices(.tokenInvalidated), .devices(.tokenTaken),
      .devices(.tokenMoved), .media, .deletion, .erased:
      return nil
    }
  }

  private func law(brokenBy event: RoomEvent, in room: ModelRoom, _ recorded: RecordedEvent) -> String? {
    let time = recorded.stamp.time
    if room.isDeleted { return "happens in a deleted room" }
    if let law = law(ofWritingTo: room, event) { return law }
    switch event {
    case .lifecycle(.created): return room.creation == nil ? nil : "creates a room twice"
    case .members(.joined(let user, let role, let invite)):
      if let link = room.invites.first(where: { $0.link.id == invite }) {
        if let law = law(ofUsing: link, at: time) { return law }
        // A user who joins a room that everybody has left becomes its owner.
        let isLeft = room.members.isEmpty && room.hasHadOwner
        if role != (isLeft ? .owner : given(by: link, in: room)) { return "gives another role than the link does" }
      }
      return law(ofAdmitting: user, to: room)
    case .members(.added(let user, _)): return law(ofAdmitting: user, to: room)
    case .members(.left(let user)), .members(.removed(let user)), .members(.roleChanged(let user, _)),
      .members(.muted(let user, _)), .members(.notificationsSet(let user, _)),
      .members(.hidden(let user)), .members(.shown(let user)),
      .members(.silenced(let user, _)):
      return room.member(user) == nil ? "is about no member" : nil
    case .messages, .annotations:
      return law(ofWriting: event, in: room, at: time)
    case .reading(.markerMoved(let user, let message, let ordinal)):
      guard let member = room.member(user) else { return "moves the marker of no member" }
      if room.message(message)?.location != .room(ordinal) { return "moves a marker to what is not there" }
      let isMove = ordinal > member.marker || member.unreadFrom != nil
      return isMove || recorded.command != nil ? nil : "moves a marker back"
    case .threads(.markerMoved(let user, let message, let location)):
      if room.member(user) == nil { return "moves the marker of no member" }
      return room.message(message)?.location == location ? nil : "moves a marker to what is not there"
    case .reading(.markedUnread(let user, let message, let ordinal)):
      if room.member(user) == nil { return "marks for no member" }
      return room.message(message)?.location == .room(ordinal) ? nil : "marks what is not there"
    case .sharing(.inviteCreated(let invite)):
      return room.invites.contains { $0.link.id == invite.id } ? "makes an invite twice" : nil
    case .sharing(.inviteRevoked(let id)):
      return room.invites.contains { $0.link.id == id && $0.revoked == nil } ? nil : "revokes no live invite"
    case .scheduling(.changed(let id, _)), .scheduling(.cancelled(let id)):
      guard let waiting = room.scheduled.first(where: { $0.id == id && $0.failure == nil }) else {
        return "is about nothing that waits"
      }
      return waiting.message.author == recorded.actor ? nil : "is about what another has scheduled"
    case .reports(let event):
      return law(ofReporting: event, in: room, by: recorded.actor)
    case .lifecycle(.edited), .lifecycle(.archived), .lifecycle(.restored), .lifecycle(.deleted),
      .members(.admissionRepeated), .members(.banned), .members(.unbanned), .threads(.followingSet),
      .scheduling(.scheduled), .scheduling(.failed), .erased:
      return nil
    }
  }

  /// In a direct room of two, no event that others see is recorded while one of them refuses the other's messages.
  private func law(ofWritingTo room: ModelRoom, _ event: RoomEvent) -> String? {
    switch event {
    case .messages(.sent), .messages(.edited), .annotations(.reactionAdded), .annotations(.pinned),
      .annotations(.unpinned), .scheduling(.scheduled):
      refusesDirectMessages(room) ? "is written in a direct room that refuses it" : nil
    case .lifecycle, .sharing, .members, .messages(.deleted), .annotations(.reactionRemoved), .reading, .threads,
      .scheduling(.changed), .scheduling(.cancelled), .scheduling(.failed), .reports, .erased:
      nil
    }
  }

  private func law(ofAdmitting user: UserID, to room: ModelRoom) -> String? {
    if room.isBanned(user) { return "lets a banned user in" }
    if room.member(user) != nil { return "lets a member in" }
    guard let workspace = room.creation?.workspace else { return nil }
    return workspaces[workspace]?.member(user) == nil ? "lets a stranger into a channel" : nil
  }

  private func law<GivenRole>(ofUsing link: ModelInvite<GivenRole>, at time: Timestamp) -> String? {
    if link.revoked != nil { return "uses a revoked invite" }
    if let end = link.link.expiresAt, end <= time { return "uses an expired invite" }
    if let most = link.link.maximumUses, link.uses >= UInt64(most) { return "uses an invite once too often" }
    return nil
  }

  private func law(ofWriting event: RoomEvent, in room: ModelRoom, at time: Timestamp) -> String? {
    // Deletions and changes of reactions and pins are still possible in an archived room.
    if room.archived != nil, !isTidying(event) { return "writes in an archived room" }
    switch event {
    case .messages(.sent(let id, let author, let location, _)):
      if room.message(id) != nil { return "sends an ID twice" }
      guard let member = room.member(author) else { return "is written by no member" }
      if let until = member.silencedUntil, until > time { return "is written by a silenced member" }
      guard let location else { return nil }
      guard let root = room.message(location.root.message), root.location == .room(location.root.ordinal) else {
        return "replies in no thread"
      }
      let replies = room.thread(of: root.id).count
      if replies == 0, root.isDeleted { return "begins a thread under a deleted message" }
      return location.ordinal == UInt64(replies + 1) ? nil : "leaves a gap in a thread"
    case .messages(.edited(let id, let location, _)), .messages(.deleted(let id, let location)),
      .annotations(.reactionAdded(let id, let location, _, _, _)),
      .annotations(.reactionRemoved(let id, let location, _, _)),
      .annotations(.pinned(let id, let location)), .annotations(.unpinned(let id, let location)):
      guard let message = room.message(id), message.location == location else { return "is about no message" }
      if case .annotations(.reactionAdded(_, _, _, _, let author)) = event, author != message.author {
        return "names another author of the message"
      }
      return message.isDeleted && !isTidying(event) ? "is about a deleted message" : nil
    default: return nil
    }
  }

  /// Whether the event is possible in an archived room.
  private func isTidying(_ event: RoomEvent) -> Bool {
    switch event {
    case .messages(.deleted), .annotations: true
    default: false
    }
  }

  private func law(brokenBy event: WorkspaceEvent, in workspace: ModelWorkspace) -> String? {
    if workspace.isDeleted { return "happens in a deleted workspace" }
    switch event {
    case .members(.joined(let user, let role, let method)):
      if workspace.member(user) != nil { return "lets a member in" }
      return role == workspace.given(to: user, by: method) ?? role ? nil : "gives another role than it is to"
    case .members(.left(let user)), .members(.removed(let user)), .members(.roleChanged(let user, _)):
      return workspace.member(user) == nil ? "is about no member" : nil
    case .lifecycle, .sharing, .members(.admissionRepeated), .invitations, .erased:
      return nil
    }
  }
}
