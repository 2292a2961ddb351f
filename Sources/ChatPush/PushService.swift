import ChatDomain
package import ChatPrimitives
package import ChatProjections
package import ChatService
package import EventStore
package import Logging
import NIOPosix

/// Push as the server runs it: the outbox that follows the log, and the dispatcher that empties it.
package final class PushService: ErasedReadModel {
  /// The delay before another attempt to switch push on, in milliseconds.
  private static let switchOnPauseMilliseconds = 500

  private let outbox: ProjectionRunner<PushProjection>
  private let dispatcher: PushDispatcher
  private let sender: any PushNotificationSender
  /// True once the outbox has caught up; false if it halts first, or if sending is stopped first.
  private let catchingUp: Task<Bool, Never>
  private let dispatching: Task<Void, Never>

  private init(
    outbox: ProjectionRunner<PushProjection>, dispatcher: PushDispatcher, sender: any PushNotificationSender,
    head: LogPosition, logger: Logger
  ) {
    self.outbox = outbox
    self.dispatcher = dispatcher
    self.sender = sender
    let catchingUp: Task<Bool, Never> = Task {
      await PushService.catchUp(outbox, to: head, logger)
    }
    self.catchingUp = catchingUp
    dispatching = Task {
      guard await catchingUp.value, !catchingUp.isCancelled else { return }
      await dispatcher.run()
    }
  }

  /// Opens the outbox in `directory` and starts it without waiting for it. The outbox catches up with the log in the
  /// background, and then notifications are sent. `status` reports its progress and its fault.
  ///
  /// Call it before requests are accepted, because it switches push on: messages sent after it has returned are pushed.
  /// If push was switched on before, it continues where it stopped.
  ///
  /// - Parameters:
  ///   - directory: the folder of the read models.
  ///   - threads: where notifications are rendered and sent; nil for the threads that run all tasks.
  /// - Throws: `RecordingFailure` if the event that switches push on cannot be recorded, and errors of the folder.
  package static func open(
    directory: String, feed: any EventFeed, logIdentity: UUIDBytes, recorder: any OutcomeRecorder,
    sender: any PushNotificationSender, logger: Logger, now: @escaping @Sendable () -> Timestamp,
    isOpen: @escaping OpenRoomCheck = { _, _, _ in false }, threads: PushThreads? = nil
  ) async throws -> PushService {
    // This uses a thread that may block, because the threads that run tasks already respond to liveness checks.
    let outbox = try await NIOThreadPool.singleton.runIfActive {
      try ProjectionRunner<PushProjection>.open(
        directory: directory, feed: feed, logIdentity: logIdentity, logger: logger)
    }
    do {
      try await switchOn(outbox, recorder, logger)
    } catch {
      // Otherwise the file would stay open.
      try? outbox.stop()
      throw error
    }
    let dispatcher = PushDispatcher(
      outbox: outbox, head: { feed.head }, recorder: recorder, sender: sender, logIdentity: logIdentity,
      logger: logger, now: now, isOpen: isOpen, threads: threads)
    outbox.start { _ in dispatcher.outboxGrew() }
    return PushService(outbox: outbox, dispatcher: dispatcher, sender: sender, head: feed.head, logger: logger)
  }

  /// Records an event with no outcomes, unless the outbox's file shows that push was switched on before. Only events
  /// after the first such event cause notifications.
  ///
  /// If the file is damaged, lost or outdated, the event is recorded again, because reading the log to find out would
  /// delay startup. The event settles nothing, so no waiting notification is lost.
  private static func switchOn(
    _ outbox: ProjectionRunner<PushProjection>, _ recorder: any OutcomeRecorder, _ logger: Logger
  ) async throws {
    let settled = try? await outbox.read { try $0.settledThrough() }
    guard settled == nil else { return }
    while true {
      do throws(RecordingFailure) {
        return try await recorder.record(PushOutcomes(settledThrough: .origin, outcomes: []))
      } catch {
        guard case .transient(let reason) = error else { throw error }
        logger.warning("push could not be switched on yet; the server tries again", metadata: ["reason": "\(reason)"])
        try await Task.sleep(for: .milliseconds(switchOnPauseMilliseconds))
      }
    }
  }

  /// The status of the outbox and the providers. The rest of the server works without them.
  package var status: PushStatus { PushStatus(outbox: outbox.status, providers: dispatcher.providers) }

  /// What the outbox takes on the disk.
  package var storage: ViewStorage { outbox.storage }

  /// The largest number that `waiting` counts to. Counting that far takes a few milliseconds.
  package static let maximumWaiting = 100_000

  /// The number of notifications that have no recorded outcome, up to `maximumWaiting`.
  /// - Throws: if the outbox cannot be read.
  package func waiting() async throws -> Int {
    try await outbox.read { try $0.waiting(atMost: Self.maximumWaiting) }
  }

  package func waitUntilApplied(_ position: LogPosition, timeoutMilliseconds: Int) async throws {
    try await outbox.wait(for: position, timeoutMilliseconds: timeoutMilliseconds)
  }

  package func emptyWriteAheadLog() async throws -> Bool { try await outbox.emptyWriteAheadLog() }

  /// Stops sending, waits for the notifications in flight, and records their outcomes. Call it while the log still
  /// accepts events.
  package func stopSending() async {
    catchingUp.cancel()
    dispatcher.stop()
    await dispatching.value
    await sender.close()
  }

  /// Closes the outbox. Call it after `stopSending` and after the feed was closed. Blocks.
  package func close() throws { try outbox.stop() }

  /// - Returns: false if the outbox halted, which its runner logs, or if the task was cancelled.
  private static func catchUp(
    _ outbox: ProjectionRunner<PushProjection>, to head: LogPosition, _ logger: Logger
  ) async -> Bool {
    let catchUp = CatchUp(
      reporting: "the outbox has made no progress for a minute; notifications wait until it does. Check the disk",
      logger: logger)
    do {
      try await catchUp.wait(for: head, statuses: { [outbox.status] })
      return true
    } catch {
      return false
    }
  }
}
