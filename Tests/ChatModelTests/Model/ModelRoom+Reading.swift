import ChatDomain
import ChatPrimitives

extension ModelMember {
  /// Markers only move forward. A move that reaches the messages that are marked as unread removes that mark.
  mutating func read(through ordinal: UInt64, _ message: MessageID, _ time: Timestamp) {
    if let from = unreadFrom, from <= ordinal { unreadFrom = nil }
    guard ordinal > marker else { return }
    marker = ordinal
    markerMessage = message
    markerMoved = time
  }

  /// A thread can also be read by users who do not follow it. That does not make them follow it.
  mutating func readThread(_ root: MessageID, through ordinal: UInt64) {
    guard var state = threads[root] else { return }
    state.marker = max(state.marker, ordinal)
    threads[root] = state
  }

  /// The last ordinal that does not count as unread.
  var readThrough: UInt64 {
    guard let unreadFrom else { return marker }
    return min(marker, unreadFrom - 1)
  }
}

extension ModelRoom {
  mutating func takeReading(_ event: RoomEvent, _ recorded: RecordedEvent) {
    switch event {
    case .reading(.markerMoved(let user, let message, let ordinal)):
      change(user) { $0.read(through: ordinal, message, recorded.occurredAt) }
    case .reading(.markedUnread(let user, _, let ordinal)): change(user) { $0.unreadFrom = ordinal }
    case .threads(.markerMoved(let user, _, let location)):
      guard let root = timeline.first(where: { $0.location.ordinal == location.thread })?.id else { return }
      change(user) { $0.readThread(root, through: location.ordinal) }
    case .threads(.followingSet(let user, let root, let follows)):
      let last = UInt64(thread(of: root.message).count)
      change(user) { member in
        var state = member.threads[root.message] ?? ThreadState(follows: follows, marker: last)
        state.follows = follows
        member.threads[root.message] = state
      }
    default: break
    }
  }

  // MARK: - Counting

  /// The unread messages of a member, without deleted ones and those whose author the member blocked at that time.
  func unreadMessages(for user: UserID) -> [ModelMessage] {
    guard let member = member(user) else { return [] }
    return timeline.filter {
      $0.location.ordinal > member.readThrough && !$0.isDeleted && !$0.leftOut.contains(user)
    }
  }

  func unread(for user: UserID) -> Int { unreadMessages(for: user).count }

  /// A mention of everyone counts only for users who were members when it was sent.
  func mentions(for user: UserID) -> Int {
    let joined = member(user)?.joinedOrdinal ?? 0
    return unreadMessages(for: user).count {
      $0.isMention(of: user) && (!$0.mentions.everyone || $0.location.ordinal > joined)
    }
  }

  /// The member's relation to a thread; nil if the member has none.
  func threadState(_ root: MessageID, by user: UserID) -> ThreadState? { member(user)?.threads[root] }

  func unread(inThread root: MessageID, for user: UserID) -> [ModelMessage] {
    guard let state = threadState(root, by: user) else { return [] }
    return thread(of: root).filter {
      $0.location.ordinal > state.marker && !$0.isDeleted && !$0.leftOut.contains(user)
    }
  }

  /// The roots of the threads that a member follows, the latest reply first.
  func followedThreads(of user: UserID) -> [ModelMessage] {
    timeline.filter { root in
      !thread(of: root.id).isEmpty && threadState(root.id, by: user)?.follows == true
    }.sorted { left, right in
      lastReply(to: left.id) > lastReply(to: right.id)
    }
  }

  func lastReply(to root: MessageID) -> LogPosition { thread(of: root).last?.sent.position ?? .origin }

  /// The authors of undeleted replies, sorted by each author's first reply since they last had no undeleted reply.
  func participants(of root: MessageID) -> [UserID] {
    let replies = thread(of: root)
    return Set(replies.map(\.author)).compactMap { user in
      since(user, in: replies).map { (user, $0) }
    }.sorted { $0.1 < $1.1 }.map(\.0)
  }

  /// The position of the user's first reply since the user last had no undeleted reply; nil if the user has none now.
  private func since(_ user: UserID, in replies: [ModelMessage]) -> LogPosition? {
    let own = replies.filter { $0.author == user }
    let changes =
      own.map { ($0.sent.position, 1) } + own.filter(\.isDeleted).map { ($0.revision, -1) }
    var (sum, first) = (0, LogPosition.origin)
    for (position, change) in changes.sorted(by: { $0.0 < $1.0 }) {
      if sum == 0 { first = position }
      sum += change
    }
    return sum == 0 ? nil : first
  }
}
