import ChatDomain
import ChatPrimitives
import ChatProjections
import EventStore

/// Reads from the log what deleted users did. It reads in slices, on a thread of low priority, so that requests need
/// not wait for it.
struct LogSurvey {
  private static let sliceEvents = 4096

  /// The part of the log that can contain events of a user.
  struct Life {
    /// The user did nothing before this position.
    let registered: LogPosition
    /// The user did nothing after this position.
    let deleted: LogPosition
  }

  let chat: ChatService
  let users: [UserID: Life]

  /// Calls `take` with what the users recorded, in order.
  func forEachSlice(_ take: ([RecordedEvent]) async throws(ServiceError) -> Void) async throws(ServiceError) {
    guard let first = users.values.map(\.registered).min(), let last = users.values.map(\.deleted).max() else { return }
    var position = LogPosition(first.value - 1)
    while position < last {
      let start = position
      let events = try await chat.failing { [store = chat.store] in try await Self.slice(of: store, after: start) }
      guard let end = events.last else { return }
      let own = events.filter { recorded in
        recorded.actor.flatMap { users[$0] }.map { recorded.position <= $0.deleted } ?? false
      }
      if !own.isEmpty { try await take(own) }
      position = end.position
      guard !Task.isCancelled else { throw .cancelled }
    }
  }

  private static func slice(of store: EventStore, after position: LogPosition) async throws -> [RecordedEvent] {
    try await withCheckedThrowingContinuation { continuation in
      LowPriorityThread.start("hansard-survey") {
        continuation.resume(with: Result { try store.events(after: position, limit: sliceEvents) })
      }
    }
  }
}
