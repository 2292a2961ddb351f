import ChatPrimitives
import ChatProjections
import Synchronization

/// Reads notifications from the outbox for many attempts at once: the access costs more than the rows.
final class NotificationReader: Sendable {
  /// The maximum number of notifications that are read at once.
  private static let batch = 256

  private typealias Read = Result<PushQueries.Lookup, any Error>
  private typealias Waiting = (key: PushNotificationKey, continuation: CheckedContinuation<Read, Never>)

  private struct State {
    var waiting: [Waiting] = []
    var isReading = false
  }

  private let outbox: ProjectionRunner<PushProjection>
  private let head: @Sendable () -> LogPosition
  private let outboxTimeoutMilliseconds: Int
  private let now: @Sendable () -> Timestamp
  private let executor: (any TaskExecutor)?
  private let state = Mutex(State())

  /// - Parameters:
  ///   - head: the position of the last durable event.
  ///   - outboxTimeoutMilliseconds: how long the outbox may take to apply all durable events.
  init(
    _ outbox: ProjectionRunner<PushProjection>, head: @escaping @Sendable () -> LogPosition,
    outboxTimeoutMilliseconds: Int, now: @escaping @Sendable () -> Timestamp, executor: (any TaskExecutor)?
  ) {
    self.outbox = outbox
    self.head = head
    self.outboxTimeoutMilliseconds = outboxTimeoutMilliseconds
    self.now = now
    self.executor = executor
  }

  /// The notification as of all events that are durable when this is called, or later.
  ///
  /// Otherwise an attempt could overlook that the token has moved to another user's device, or a ban or deletion whose
  /// request was already completed.
  func notification(_ key: PushNotificationKey) async throws -> PushQueries.Lookup {
    try await withCheckedContinuation { continuation in
      let isFirst = state.withLock { state in
        state.waiting.append((key, continuation))
        defer { state.isReading = true }
        return !state.isReading
      }
      if isFirst { Task(executorPreference: executor) { await self.readAll() } }
    }.get()
  }

  private func readAll() async {
    while let batch = next() {
      let read = await read(batch.map(\.key))
      for (waiting, found) in zip(batch, read) { waiting.continuation.resume(returning: found) }
    }
  }

  /// Those that wait; nil if none do, and then nothing is being read any more.
  private func next() -> [Waiting]? {
    state.withLock { state in
      guard !state.waiting.isEmpty else {
        state.isReading = false
        return nil
      }
      let batch = Array(state.waiting.prefix(Self.batch))
      state.waiting.removeFirst(batch.count)
      return batch
    }
  }

  private func read(_ keys: [PushNotificationKey]) async -> [Read] {
    do {
      try await outbox.wait(for: head(), timeoutMilliseconds: outboxTimeoutMilliseconds)
      let now = now()
      // An error must leave the access, because it can show that the file is damaged.
      return try await outbox.read { outbox in try outbox.notifications(keys, at: now).map { .success($0) } }
    } catch {
      return keys.map { _ in .failure(error) }
    }
  }
}
