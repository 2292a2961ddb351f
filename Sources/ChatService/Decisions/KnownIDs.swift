import ChatDomain
package import ChatPrimitives
package import ChatProjections
import Synchronization

/// Recognises IDs that were never seen, without reading the disk. The writer adds IDs when it decides; a command's
/// lookup checks them.
package final class KnownIDs: Sendable {
  private let state: Mutex<State>

  private struct State {
    var filter: KnownIDFilter
    /// The newest event's position. The filter contains everything that was decided up to here.
    var newest: LogPosition
  }

  package init(_ filter: KnownIDFilter, newest: LogPosition) {
    state = Mutex(State(filter: filter, newest: newest))
  }

  func insert(_ key: MessageKey, at position: LogPosition) {
    insert(KnownIDFilter.entry(key.message, in: key.room), position)
  }

  func insert(_ key: CommandKey, at position: LogPosition) {
    insert(KnownIDFilter.entry(key.command, by: key.actor), position)
  }

  private func insert(_ hash: UInt64, _ position: LogPosition) {
    state.withLock {
      $0.filter.insert(hash)
      $0.newest = max($0.newest, position)
    }
  }

  /// Everything up to here was decided, including events without a new ID.
  func advance(to position: LogPosition) {
    state.withLock { $0.newest = max($0.newest, position) }
  }

  /// The position up to which none of these IDs was recorded. Nil if one of them may have been.
  func neverSeen(_ lookup: Lookup) -> LogPosition? {
    guard lookup.asksForIDs else { return .latest }
    // The ID of a scheduled message is an entry like that of any message.
    var hashes = lookup.messages.map { KnownIDFilter.entry($0.message, in: $0.room) }
    for key in lookup.scheduled where !lookup.messages.contains(key) {
      hashes.append(KnownIDFilter.entry(key.message, in: key.room))
    }
    if let command = lookup.command { hashes.append(KnownIDFilter.entry(command.command, by: command.actor)) }
    return state.withLock { [hashes] state in
      hashes.contains { state.filter.mayContain($0) } ? nil : state.newest
    }
  }
}
