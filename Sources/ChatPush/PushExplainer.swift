package import ChatPrimitives
package import EventStore
import Synchronization

/// Explains events for a running server: on its own thread, at a low priority, for a limited time, and only as long as
/// somebody waits for it.
package struct PushExplainer: Sendable {
  private let feed: any EventFeed
  private let timeout: Duration

  package init(_ feed: any EventFeed, timeout: Duration = .seconds(Limits.pushExplanationSeconds)) {
    self.feed = feed
    self.timeout = timeout
  }

  /// Explains the event for at most `Limits.explainedDevices` devices. Returns only when the thread no longer reads the
  /// log.
  ///
  /// - Parameter user: the only user whose devices are explained; nil for all.
  /// - Throws: `PushExplanationError`, an error of the log, or `CancellationError`.
  package func explain(_ position: LogPosition, for user: UserID? = nil) async throws -> PushExplanation {
    let isCancelled = CancellationFlag()
    let end = ContinuousClock.now + timeout
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        LowPriorityThread.start("hansard-explain") { [feed] in
          let explanation = Result {
            try PushExplanation(of: position, in: feed, for: user, limit: Limits.explainedDevices) { _ in
              if isCancelled.isSet { throw CancellationError() }
              if ContinuousClock.now >= end { throw PushExplanationError.tookTooLong }
            }
          }
          continuation.resume(with: explanation)
        }
      }
    } onCancel: {
      isCancelled.set()
    }
  }
}

private final class CancellationFlag: Sendable {
  private let value = Atomic(false)

  var isSet: Bool { value.load(ordering: .relaxed) }

  func set() { value.store(true, ordering: .relaxed) }
}
