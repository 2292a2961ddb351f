package import ChatDomain
package import ChatPrimitives

/// An event that may notify devices.
package struct PushEvent: Sendable, Hashable {
  package var position: LogPosition
  package var time: Timestamp
  /// Set for an imported event.
  package var originalTime: Timestamp?
  /// The user who caused it; for a message its author. Nil if a service did.
  package var actor: UserID?
  /// The device that caused it; nil if that is not known.
  package var device: DeviceID?
  package var change: Change
  /// Whether such changes of a room can come in large numbers: reactions, pins, and members who join, leave or get another
  /// role. In a crowded room, only the first one of each period leads to `roomChange`.
  package var isFrequent = false

  /// The number of the period in which it happened (`FanOut.RoomContext.crowdedPeriodMilliseconds`).
  var period: Int64 { time.milliseconds / FanOut.RoomContext.crowdedPeriodMilliseconds }

  package enum Change: Sendable, Hashable {
    case message(RoomID, Message)
    case reaction(RoomID, MessageID, emoji: String, messageAuthor: UserID?)
    case deletion(RoomID, MessageID, at: MessageLocation)
    case added(RoomID, UserID)
    /// The user left, or was removed or banned.
    case departed(RoomID, UserID)
    /// The user read the room, or the thread whose root has the ordinal `thread`. `through` is the newest message that
    /// was read; nil if the user marked messages as unread, muted or unmuted the room, or hid or showed it, which only
    /// changes the badge.
    case reading(RoomID, UserID, through: MessageID?, thread: UInt64?)
    case invitation(WorkspaceID, UserID)
    /// The user blocked or unblocked another user, which changes the badge.
    case blocks(UserID)
    /// Anything else that members see in the room.
    case room(RoomID, MessageID?)
  }

  package struct Message: Sendable, Hashable {
    package var id: MessageID
    /// The root of the message's thread; nil in the room's own timeline.
    package var thread: ThreadRoot?
    /// Nil if it was erased.
    package var content: MessageContent?

    package init(id: MessageID, thread: ThreadRoot? = nil, content: MessageContent?) {
      self.id = id
      self.thread = thread
      self.content = content
    }

    var mentions: Mentions { content?.details?.mentions ?? Mentions() }
  }

  package init(
    position: LogPosition, time: Timestamp, originalTime: Timestamp? = nil, actor: UserID?, device: DeviceID? = nil,
    change: Change
  ) {
    self.position = position
    self.time = time
    self.originalTime = originalTime
    self.actor = actor
    self.device = device
    self.change = change
  }

  /// Nil if the event notifies nobody.
  package init?(_ recorded: RecordedEvent) {
    let change: Change?
    switch recorded.event {
    case .room(let room, let event): change = Change(event, in: room)
    case .workspace(let workspace, .invitations(.invited(let user, _))): change = .invitation(workspace, user)
    case .user(let user, .blocks): change = .blocks(user)
    case .workspace, .user, .server: change = nil
    }
    guard let change else { return nil }
    self.init(
      position: recorded.position, time: recorded.stamp.time, originalTime: recorded.originalTime,
      actor: recorded.actor, device: recorded.device, change: change)
    if case .room(_, .messages(.sent(_, let author, _, _))) = recorded.event { actor = author }
    if case .room(_, let event) = recorded.event { isFrequent = event.isFrequent }
  }

  /// The room that it belongs to; nil for an event of a workspace or a user.
  package var room: RoomID? {
    switch change {
    case .message(let room, _), .reaction(let room, _, _, _), .deletion(let room, _, _), .added(let room, _),
      .departed(let room, _), .reading(let room, _, _, _), .room(let room, _):
      room
    case .invitation, .blocks: nil
    }
  }

  /// The only user whom it concerns; nil if it concerns the members of the room.
  package var onlyUser: UserID? {
    switch change {
    case .reading(_, let user, _, _), .invitation(_, let user), .blocks(let user): user
    case .message, .reaction, .deletion, .added, .departed, .room: nil
    }
  }
}

extension RoomEvent {
  fileprivate var isFrequent: Bool {
    switch self {
    case .annotations, .members(.joined), .members(.added), .members(.left), .members(.removed), .members(.banned),
      .members(.roleChanged):
      true
    // The other events of members lead to no `roomChange`.
    case .members(.admissionRepeated), .members(.unbanned), .members(.silenced), .members(.muted),
      .members(.notificationsSet), .members(.hidden), .members(.shown), .lifecycle, .sharing, .messages, .reading,
      .threads, .scheduling, .reports, .erased:
      false
    }
  }
}

extension PushEvent.Change {
  /// Nil if the event notifies nobody.
  fileprivate init?(_ event: RoomEvent, in room: RoomID) {
    switch event {
    case .messages(.sent(let id, _, let thread, let content)):
      self = .message(room, PushEvent.Message(id: id, thread: thread?.root, content: content))
    case .messages(.deleted(let id, let location)): self = .deletion(room, id, at: location)
    case .messages(.edited(let id, _, _)): self = .room(room, id)
    case .annotations(.reactionAdded(let id, _, _, let emoji, let author)):
      self = .reaction(room, id, emoji: emoji, messageAuthor: author)
    case .annotations(.reactionRemoved(let id, _, _, _)), .annotations(.pinned(let id, _)),
      .annotations(.unpinned(let id, _)):
      self = .room(room, id)
    case .members(.added(let user, _)): self = .added(room, user)
    case .members(.left(let user)), .members(.removed(let user)), .members(.banned(let user)):
      self = .departed(room, user)
    case .members(.joined), .members(.roleChanged), .lifecycle(.edited), .lifecycle(.archived), .lifecycle(.restored):
      self = .room(room, nil)
    case .reading(.markerMoved(let user, let id, _)): self = .reading(room, user, through: id, thread: nil)
    case .threads(.markerMoved(let user, let id, let location)):
      self = .reading(room, user, through: id, thread: location.thread)
    case .reading(.markedUnread(let user, _, _)), .members(.muted(let user, _)), .members(.hidden(let user)),
      .members(.shown(let user)):
      self = .reading(room, user, through: nil, thread: nil)
    // A new or deleted room has nothing to show. The other events concern nobody else, or apps do not show them.
    case .lifecycle(.created), .lifecycle(.deleted), .sharing, .members(.admissionRepeated), .members(.unbanned),
      .members(.silenced), .members(.notificationsSet), .threads(.followingSet), .scheduling,
      .reports, .erased:
      return nil
    }
  }
}
