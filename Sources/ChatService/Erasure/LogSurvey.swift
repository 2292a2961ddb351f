import ChatDomain
import ChatPrimitives
import ChatProjections
import EventStore
import NIOPosix

/// What a deleted user did, according to the log. It is read in slices, so that no thread blocks for long.
struct LogSurvey {
  private static let sliceEvents = 4096

  let chat: ChatService
  let user: UserID
  /// The user did nothing before this position.
  let registered: LogPosition
  /// The user did nothing after this position.
  let deleted: LogPosition

  /// Calls `take` with what the user recorded, in order.
  func forEachSlice(_ take: ([RecordedEvent]) async throws(ServiceError) -> Void) async throws(ServiceError) {
    var position = LogPosition(registered.value - 1)
    while position < deleted {
      let start = position
      let events = try await chat.failing { [store = chat.store] in
        try await NIOThreadPool.singleton.runIfActive { try store.events(after: start, limit: Self.sliceEvents) }
      }
      guard let last = events.last else { return }
      let own = events.filter { $0.actor == user && $0.position <= deleted }
      if !own.isEmpty { try await take(own) }
      position = last.position
      guard !Task.isCancelled else { throw .cancelled }
    }
  }
}
