package import ChatPrimitives

extension RoomEvent {
  package enum Threads: Sendable, Equatable {
    /// The user has read a thread up to this message.
    case markerMoved(UserID, to: MessageID, at: MessageLocation)
    /// Whether the user follows a thread. Users who write in a thread, are mentioned in it or wrote its root follow it
    /// until they unfollow it.
    case followingSet(UserID, ThreadRoot, follows: Bool)
  }
}

extension RoomEvent.Threads: EventFamily {
  /// Does not include who read or follows: idempotency keys are looked up within one actor.
  package var fingerprint: Fingerprint? {
    switch self {
    case .markerMoved(_, let message, _): .threadMarkerMove(to: message)
    case .followingSet(_, let root, let follows): .following(root.message, follows)
    }
  }
}

extension Fingerprint {
  static func threadMarkerMove(to message: MessageID) -> Fingerprint {
    Fingerprint(.text("thread-marker.move"), .id(message.uuid))
  }

  static func following(_ root: MessageID, _ follows: Bool) -> Fingerprint {
    Fingerprint(.text("thread.follow"), .id(root.uuid), .number(follows ? 1 : 0))
  }
}

// MARK: - Commands

extension RoomCommand {
  package enum Threads: Sendable, Equatable {
    /// The actor has read the thread of this root up to the message.
    case moveMarker(to: MessageID, in: MessageID)
    /// Whether the actor follows the thread of this root.
    case setFollowing(MessageID, Bool)
  }
}

extension RoomCommand.Threads: AggregateCommand {
  package func fingerprint(by actor: UserID?) -> Fingerprint {
    switch self {
    case .moveMarker(let id, _): .threadMarkerMove(to: id)
    case .setFollowing(let root, let follows): .following(root, follows)
    }
  }

  package func addKeys(to lookup: inout Lookup, on room: RoomID, by actor: UserID?) {
    switch self {
    case .moveMarker(let id, let root):
      lookup.messages = [MessageKey(room: room, message: id), MessageKey(room: room, message: root)]
    case .setFollowing(let root, _): lookup.messages = [MessageKey(room: room, message: root)]
    }
  }
}

// MARK: - Decide

extension RoomDecider {
  func decide(_ command: RoomCommand.Threads) throws(Rejection) -> Decision<RoomEvent> {
    switch command {
    case .moveMarker(let id, let root): try moveThreadMarker(to: id, in: root)
    case .setFollowing(let root, let follows): try setFollowing(root, follows)
    }
  }

  /// Recorded even if the marker is already there or further on: memory does not contain the read markers of threads,
  /// and readers of the event keep the furthest one.
  private func moveThreadMarker(to id: MessageID, in root: MessageID) throws(Rejection) -> Decision<RoomEvent> {
    try requireMember()
    let target = try message(id)
    if let done = try doneBefore() { return done }
    let root = try threadRoot(root)
    guard target.location.thread == root.location.ordinal else { throw .messageNotFound }
    return .record([.threads(.markerMoved(try actor(), to: id, at: target.location))])
  }

  /// Members can follow a thread before it has a reply.
  private func setFollowing(_ id: MessageID, _ follows: Bool) throws(Rejection) -> Decision<RoomEvent> {
    try requireMember()
    _ = try message(id)
    if let done = try doneBefore() { return done }
    let thread = ThreadRoot(message: id, ordinal: try threadRoot(id).location.ordinal)
    return .record([.threads(.followingSet(try actor(), thread, follows: follows))])
  }

  /// A message that has a thread or can get one, which means a message in the room's timeline.
  private func threadRoot(_ id: MessageID) throws(Rejection) -> KnownMessage {
    let root = try message(id)
    guard !root.location.isInThread else { throw .notAThreadRoot }
    return root
  }

  // MARK: New messages

  /// Where a new message goes; nil for the room's timeline.
  ///
  /// The first reply needs a root that is not deleted. A thread with replies accepts more after its root is deleted.
  func threadLocation(in thread: MessageID?) throws(Rejection) -> ThreadLocation? {
    guard let thread else { return nil }
    let root = try threadRoot(thread)
    guard root.replies > 0 || !root.isDeleted else { throw .messageDeleted }
    return ThreadLocation(
      root: ThreadRoot(message: thread, ordinal: root.location.ordinal), rootAuthor: root.author,
      ordinal: root.replies + 1)
  }

  /// A message can reply to messages of the same timeline or thread, and in a thread also to its root. It can reply to
  /// a deleted message, whose location is kept.
  /// - Returns: the location of the message that is replied to; nil if the message is no reply.
  @discardableResult
  func requireAnswerable(
    _ answered: MessageID?, from thread: ThreadLocation?
  ) throws(Rejection) -> MessageLocation? {
    guard let answered else { return nil }
    let location = try message(answered).location
    let root = thread?.root.ordinal ?? 0
    let isRoot = location == .room(root)
    guard location.thread == root || isRoot else { throw .replyElsewhere }
    return location
  }
}
