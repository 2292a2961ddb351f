import ChatDomain
import ChatPrimitives
import ChatProjections

/// Where `timeline` names the messages of a room that changed for a user.
struct TimelineSources {
  let timeline: TimelineQueries
  let range: SyncRange
  /// See `SyncRequest`.
  let perRoom: Int?

  func room(_ synced: SyncedRoom) throws -> [SyncMerge.Source] {
    let gap = SyncSources.single(range.target, .gap(synced.id))
    switch try cut(synced) {
    case .nothing: return try messages(synced, sentAfter: .origin)
    case .newMessages(let first): return try messages(synced, sentAfter: first.position.previous) + [gap]
    case .everything(let first): return [try newest(synced, from: first), gap]
    }
  }

  private func messages(_ synced: SyncedRoom, sentAfter sent: LogPosition) throws -> [SyncMerge.Source] {
    let (timeline, range, room) = (timeline, range, synced.id)
    func source(
      repeated: Int = 1, _ read: @escaping (LogPosition, Int) throws -> [ChangedMessage]
    ) -> SyncMerge.Source {
      SyncSources.source(repeated: repeated) { after, limit in
        // A message that came into sight when the user joined is delivered there, not where it was sent.
        try read(max(after, synced.joined.previous), limit).map { ($0.position, .message($0.location, in: room)) }
      }
    }
    var sources = [
      source { try timeline.sentMessages(to: room, after: max($0, sent), through: range.target, limit: $1) },
      source { try timeline.sentReplies(to: room, after: $0, through: range.target, limit: $1) },
      // A reply changes itself and its root.
      source(repeated: 2) { try timeline.changedMessages(of: room, after: $0, through: range.target, limit: $1) },
    ]
    if range.contains(synced.joined) {
      sources.append(
        SyncSources.whole(.message, in: room.uuid, at: synced.joined) { last, limit in
          var location: MessageLocation?
          if case .message(let reached, _)? = last { location = reached }
          return try timeline.locations(in: room, after: location, limit: limit).map { .message($0, in: room) }
        })
    }
    return sources
  }

  /// The messages of the room's own timeline from an ordinal on, at their revisions.
  private func newest(_ synced: SyncedRoom, from first: UInt64) throws -> SyncMerge.Source {
    let points = try timeline.revisions(in: synced.id, from: first, sentThrough: range.target).map {
      SyncPoint(max($0.position, synced.joined), key: SyncEntity.message($0.location, in: synced.id).key)
    }.sorted()
    return { start, limit in Array(points.lazy.filter { $0 > start }.prefix(limit)) }
  }

  // MARK: - Gaps

  /// What a catch-up leaves out of a room.
  enum Cut: Sendable, Hashable {
    case nothing
    /// The messages of the room's own timeline before the first that is sent, back to those that the client can have.
    case newMessages(before: ChangedMessage)
    /// All messages before an ordinal, and all replies.
    case everything(before: UInt64)
  }

  /// While a catch-up is read, this can change only to leave out more, because messages can change again. Therefore the
  /// gap comes last: then it applies to what was sent before, too.
  func cut(_ synced: SyncedRoom) throws -> Cut {
    guard let perRoom else { return .nothing }
    let isGained = range.contains(synced.joined)
    let (room, since, target) = (synced.id, isGained ? LogPosition.origin : range.since, range.target)
    let sent = try timeline.newestMessages(of: room, after: since, through: target, limit: perRoom + 1)
    let replies = try timeline.sentReplies(to: room, after: since, through: target, limit: perRoom + 1)
    // Also changes after the target, so that the number never falls.
    let changes =
      isGained ? [] : try timeline.changedMessages(of: room, after: since, through: .last, limit: perRoom + 1)
    let oldest = sent.count > perRoom ? sent[perRoom - 1] : sent.last
    if max(replies.count, changes.count) > perRoom || (isGained && sent.count > perRoom) {
      if let oldest { return .everything(before: oldest.location.ordinal) }
      let last = try timeline.newestMessages(of: room, after: .origin, through: target, limit: 1).first
      return .everything(before: (last?.location.ordinal ?? 0) + 1)
    }
    guard sent.count > perRoom, let oldest else { return .nothing }
    return .newMessages(before: oldest)
  }

  /// Nil if the room has no gap.
  func gap(_ synced: SyncedRoom) throws -> SyncGap? {
    switch try cut(synced) {
    case .nothing: return nil
    case .newMessages(let first):
      let until = try timeline.lastMessage(of: synced.id, sentThrough: range.since)
      return SyncGap(room: synced.id, before: first.location.ordinal, until: until)
    case .everything(let first): return SyncGap(room: synced.id, before: first)
    }
  }
}

extension LogPosition {
  /// The position before this one; the origin before the first.
  fileprivate var previous: LogPosition { LogPosition(value - min(value, 1)) }

  /// No record is after this.
  static let last = LogPosition(UInt64(Int64.max))
}
