import ChatDomain
import ChatPrimitives
import ChatProjections
import DequeModule
import EventStore

/// What the read models may not have applied yet: the messages, keyed commands and endings of the newest events.
/// Together with what was looked up, it is current when a command is decided.
package struct RecentWrites: Sendable {
  /// How many entries are kept although the read models have them, so that a lookup stays valid while its command waits
  /// in the queue. As many as the queue can contain; about 480 bytes each.
  package static let retained = CommitPipeline<DecisionState>.queueLimit

  private var messages: [MessageKey: KnownMessage] = [:]
  private var revisions: [MessageKey: MessageRevision] = [:]
  private var schedulings: [MessageKey: KnownScheduledMessage] = [:]
  /// The newest reply in a thread, by the thread's root.
  private var replies: [MessageKey: Reply] = [:]
  private var commands: [CommandKey: KnownCommand] = [:]
  private var reactions = RecentReactions()
  private var endings: [EndingKey: Ending] = [:]
  private var reports: [ReportKey: KnownReport] = [:]
  private var reportRevisions: [ReportKey: ReportRevision] = [:]
  private var order: Deque<Entry> = []
  /// Everything after this position is contained here.
  private(set) var floor: LogPosition
  private let retained: Int

  init(floor: LogPosition, retained: Int = Self.retained) {
    self.floor = floor
    self.retained = retained
  }

  /// What is known now for these keys.
  /// - Parameter found: what was looked up.
  func newest(_ found: Known, by lookup: Lookup) -> Known {
    var known = Known()
    known.media = found.media
    for key in lookup.messages {
      if let message = message(key, found: found.messages[key]) { known.messages[key] = message }
    }
    for key in lookup.scheduled {
      if let scheduled = schedulings[key] ?? found.scheduled[key] { known.scheduled[key] = scheduled }
    }
    if let key = lookup.reaction {
      known.reactions[key] = reactions.counts(for: key, found: found.reactions[key] ?? .none)
    }
    if let key = lookup.command, let command = commands[key] ?? found.commands[key] { known.commands[key] = command }
    if let key = lookup.ending, let ending = endings[key] ?? found.endings[key] { known.endings[key] = ending }
    if let key = lookup.content { known.contents[key] = found.contents[key] }
    if let key = lookup.report { known.reports[key] = report(key, found: found.reports[key]) }
    return known
  }

  private func report(_ key: ReportKey, found: KnownReport?) -> KnownReport? {
    if let report = reports[key] { return report }
    guard var report = found else { return nil }
    if let revision = reportRevisions[key], revision.stamp.position > report.revised.position {
      report.revise(revision)
    }
    return report
  }

  private func message(_ key: MessageKey, found: KnownMessage?) -> KnownMessage? {
    if let message = messages[key] { return message }
    guard var message = found else { return nil }
    if let revision = revisions[key], revision.stamp.position > message.revision { message.revise(revision) }
    if let reply = replies[key] { message.replies = max(message.replies, reply.ordinal) }
    return message
  }

  /// - Parameter counts: the counts after the event at this position.
  mutating func enter(_ counts: ReactionCounts, for key: ReactionKey, at position: LogPosition) {
    reactions.enter(counts, for: key, at: position)
    order.append(.reaction(key, position))
  }

  mutating func enter(_ message: KnownMessage, for key: MessageKey) {
    messages[key] = message
    order.append(.message(key, message.revision))
  }

  /// An edit or a deletion. The message may be too old to be contained here.
  mutating func enter(_ revision: MessageRevision, for key: MessageKey) {
    if messages[key] == nil { revisions[key] = revision } else { messages[key]?.revise(revision) }
    order.append(.message(key, revision.stamp.position))
  }

  mutating func enter(_ scheduled: KnownScheduledMessage, for key: MessageKey) {
    schedulings[key] = scheduled
    order.append(.scheduling(key, scheduled.scheduled.position))
  }

  mutating func enter(_ report: KnownReport, for key: ReportKey) {
    reports[key] = report
    order.append(.report(key, report.revised.position))
  }

  /// Enters a resolution or a reopening. The report itself may be too old to be here.
  mutating func enter(_ revision: ReportRevision, for key: ReportKey) {
    if reports[key] == nil { reportRevisions[key] = revision } else { reports[key]?.revise(revision) }
    order.append(.report(key, revision.stamp.position))
  }

  /// Keeps the first one, because nothing ends twice.
  mutating func enter(_ ending: Ending, for key: EndingKey, at position: LogPosition) {
    guard endings[key] == nil else { return }
    endings[key] = ending
    order.append(.ending(key, position))
  }

  /// A reply in the thread of this root, which may be too old to be contained here.
  mutating func enter(replyTo root: MessageKey, ordinal: UInt64, at position: LogPosition) {
    messages[root]?.replies = ordinal
    replies[root] = Reply(ordinal: ordinal, position: position)
    order.append(.reply(root, position))
  }

  /// Keeps the first one: the later events of a command have the same key.
  mutating func enter(_ command: KnownCommand, for key: CommandKey) {
    guard commands[key] == nil else { return }
    commands[key] = command
    order.append(.command(key, command.stamp.position))
  }

  /// Drops what the read models have applied, oldest first, except the retained entries.
  mutating func forget(through applied: LogPosition) {
    while order.count > retained, let oldest = order.first, oldest.position <= applied {
      order.removeFirst()
      floor = oldest.position
      switch oldest {
      case .message(let key, let position):
        if messages[key]?.revision == position { messages[key] = nil }
        if revisions[key]?.stamp.position == position { revisions[key] = nil }
      case .scheduling(let key, _):
        schedulings[key] = nil
      case .reply(let root, let position):
        if replies[root]?.position == position { replies[root] = nil }
      case .command(let key, _):
        commands[key] = nil
      case .reaction(let key, let position):
        reactions.forget(key, at: position)
      case .ending(let key, _):
        endings[key] = nil
      case .report(let key, let position):
        if reports[key]?.revised.position == position { reports[key] = nil }
        if reportRevisions[key]?.stamp.position == position { reportRevisions[key] = nil }
      }
    }
  }

  private struct Reply {
    let ordinal: UInt64
    let position: LogPosition
  }

  private enum Entry: Sendable {
    case message(MessageKey, LogPosition)
    case scheduling(MessageKey, LogPosition)
    case reply(MessageKey, LogPosition)
    case command(CommandKey, LogPosition)
    case reaction(ReactionKey, LogPosition)
    case ending(EndingKey, LogPosition)
    case report(ReportKey, LogPosition)

    var position: LogPosition {
      switch self {
      case .message(_, let position), .reply(_, let position), .scheduling(_, let position), .command(_, let position),
        .reaction(_, let position), .ending(_, let position), .report(_, let position):
        position
      }
    }
  }
}

/// What an edit or a deletion changes in what is known of a message.
struct MessageRevision: Hashable, Sendable {
  let stamp: Stamp
  let deletes: Bool
}

/// How a resolution or a reopening changes a `KnownReport`.
struct ReportRevision: Hashable, Sendable {
  let stamp: Stamp
  let isOpen: Bool
  /// See `KnownReport.resolution`.
  let resolution: Fingerprint?
}

extension KnownReport {
  fileprivate mutating func revise(_ revision: ReportRevision) {
    revised = revision.stamp
    isOpen = revision.isOpen
    resolution = revision.resolution
  }
}

extension KnownMessage {
  fileprivate mutating func revise(_ revision: MessageRevision) {
    self.revision = revision.stamp.position
    revisedAt = revision.stamp.time
    if revision.deletes { isDeleted = true }
  }
}
