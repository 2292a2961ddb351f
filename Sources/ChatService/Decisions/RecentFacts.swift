import ChatDomain
import ChatPrimitives
import ChatProjections
import DequeModule

/// What the ID index may not know yet: the messages and keyed commands of the newest events. Laid over what was looked
/// up, it makes facts that are true at the moment of deciding.
package struct RecentFacts: Sendable {
  /// Entries kept though the index knows them, so that a lookup stays good while its command waits in the queue.
  package static let retained = 65_536

  private var messages: [MessageKey: MessageFacts] = [:]
  private var revisions: [MessageKey: MessageRevision] = [:]
  private var commands: [CommandKey: CommandFacts] = [:]
  private var order: Deque<Entry> = []
  /// Everything after this position is known here.
  private(set) var floor: LogPosition
  private let retained: Int

  init(floor: LogPosition, retained: Int = Self.retained) {
    self.floor = floor
    self.retained = retained
  }

  /// - Parameter found: what the index answered.
  func message(_ key: MessageKey, found: MessageFacts?) -> MessageFacts? {
    if let facts = messages[key] { return facts }
    guard var facts = found, let revision = revisions[key], revision.stamp.position > facts.revision else {
      return found
    }
    facts.revise(revision)
    return facts
  }

  func command(_ key: CommandKey) -> CommandFacts? { commands[key] }

  mutating func enter(_ facts: MessageFacts, for key: MessageKey) {
    messages[key] = facts
    order.append(.message(key, facts.revision))
  }

  /// An edit or a deletion, of a message that may be too old to be known here.
  mutating func enter(_ revision: MessageRevision, for key: MessageKey) {
    if messages[key] == nil { revisions[key] = revision } else { messages[key]?.revise(revision) }
    order.append(.message(key, revision.stamp.position))
  }

  /// Keeps the first: a command's later facts have the same key.
  mutating func enter(_ facts: CommandFacts, for key: CommandKey) {
    guard commands[key] == nil else { return }
    commands[key] = facts
    order.append(.command(key, facts.stamp.position))
  }

  /// Forgets what the index has applied, oldest first, but for the entries that are retained.
  mutating func forget(through applied: LogPosition) {
    while order.count > retained, let oldest = order.first, oldest.position <= applied {
      order.removeFirst()
      floor = oldest.position
      switch oldest {
      case .message(let key, let position):
        if messages[key]?.revision == position { messages[key] = nil }
        if revisions[key]?.stamp.position == position { revisions[key] = nil }
      case .command(let key, _):
        commands[key] = nil
      }
    }
  }

  private enum Entry: Sendable {
    case message(MessageKey, LogPosition)
    case command(CommandKey, LogPosition)

    var position: LogPosition {
      switch self {
      case .message(_, let position), .command(_, let position): position
      }
    }
  }
}

/// What an edit or a deletion changes of a message's facts.
struct MessageRevision: Hashable, Sendable {
  let stamp: Stamp
  let deletes: Bool
}

extension MessageFacts {
  fileprivate mutating func revise(_ revision: MessageRevision) {
    self.revision = revision.stamp.position
    revisedAt = revision.stamp.time
    if revision.deletes { isDeleted = true }
  }
}
