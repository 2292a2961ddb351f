package import ChatPrimitives

extension RoomEvent {
  package enum Threads: Sendable, Equatable {
    /// The user has read a thread up to this message.
    case markerMoved(UserID, to: MessageID, at: MessageLocation)
    /// Whether the user follows a thread. A user who writes in it, is mentioned in it, or wrote its root, follows it until
    /// the user says no.
    case followingSet(UserID, ThreadRoot, follows: Bool)
  }
}

extension RoomEvent.Threads: EventFamily {
  /// Who read or follows is not a part of it: idempotency keys are looked up within one actor.
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

// MARK: - Decide

extension RoomDecider {
  /// Where a new message goes: nil for the room's own timeline.
  ///
  /// A thread hangs from a message of the room's own timeline that is not deleted when it gets its first reply. A thread
  /// that has begun goes on though its root is deleted.
  static func threadLocation(_ references: MessageReferences?) throws(Rejection) -> ThreadLocation? {
    guard let thread = references?.thread else { return nil }
    guard let root = references?.root else { throw .messageNotFound }
    guard !root.place.isInThread else { throw .notAThreadRoot }
    guard root.replies > 0 || !root.isDeleted else { throw .messageDeleted }
    return ThreadLocation(
      root: ThreadRoot(message: thread, ordinal: root.place.ordinal), rootAuthor: root.author,
      ordinal: root.replies + 1)
  }

  /// A message answers one that is read in the same place: in the room's timeline one of that, in a thread one of the
  /// same thread or its root. A deleted one can be answered: it still stands in its place.
  static func requireAnswerable(
    _ content: MessageContent, in thread: ThreadLocation?, _ references: MessageReferences?
  ) throws(Rejection) {
    guard content.details?.replyTo != nil else { return }
    guard let answered = references?.answered else { throw .messageNotFound }
    let root = thread?.root.ordinal ?? 0
    let isRoot = !answered.place.isInThread && answered.place.ordinal == root
    guard answered.place.thread == root || isRoot else { throw .replyElsewhere }
  }

  /// Recorded even when the marker stands there already or further on: how far each has read in each thread is not kept
  /// in memory, and readers of the event take the furthest.
  static func moveThreadMarker(
    _ id: MessageID, _ target: KnownMessage?, root: KnownMessage?, by context: CommandContext, in state: RoomState
  ) throws(Rejection) -> Decision<RoomEvent> {
    let user = try actor(of: context)
    _ = try room(state)
    guard let target, let root else { throw .messageNotFound }
    guard !root.place.isInThread else { throw .notAThreadRoot }
    guard target.place.thread == root.place.ordinal else { throw .messageNotFound }
    return .record([.threads(.markerMoved(user, to: id, at: target.place))])
  }

  /// Whoever wishes can follow a message before anybody has replied to it.
  static func setThreadFollowing(
    _ id: MessageID, _ follows: Bool, _ root: KnownMessage?, by context: CommandContext, in state: RoomState
  ) throws(Rejection) -> Decision<RoomEvent> {
    let user = try actor(of: context)
    _ = try room(state)
    guard let root else { throw .messageNotFound }
    guard !root.place.isInThread else { throw .notAThreadRoot }
    let thread = ThreadRoot(message: id, ordinal: root.place.ordinal)
    return .record([.threads(.followingSet(user, thread, follows: follows))])
  }
}
