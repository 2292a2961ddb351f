import ChatDomain
package import ChatPrimitives
package import ChatProjections
package import ChatService
package import EventStore
package import Logging
import NIOPosix

/// Push as the server runs it: the outbox that follows the log, and the dispatcher that empties it.
package final class PushService: Sendable {
  /// How long the outbox makes no progress before that is reported, each time, in milliseconds.
  private static let slownessMilliseconds = 60_000
  /// Between two looks at how far it is, in milliseconds.
  private static let lookMilliseconds = 20

  private let outbox: ProjectionRunner<PushProjection>
  private let dispatcher: PushDispatcher
  private let sender: any NoticeSender
  private let dispatching: Task<Void, Never>

  private init(
    outbox: ProjectionRunner<PushProjection>, dispatcher: PushDispatcher, sender: any NoticeSender
  ) {
    self.outbox = outbox
    self.dispatcher = dispatcher
    self.sender = sender
    dispatching = Task { await dispatcher.run() }
  }

  /// Opens the outbox in `directory`, lets it come to the log's head, and starts to send.
  ///
  /// The first time, that is when no outcomes were ever recorded, everything up to the head is recorded as settled
  /// before anything is enumerated, so that nothing old is ever sent. To be called before requests are accepted: what
  /// is sent between that head and the record is lost to push.
  ///
  /// - Parameters:
  ///   - directory: the folder of read models.
  ///   - progress: told how far the outbox is, while it catches up.
  /// - Throws: `PushOpeningError`, or what the file or the log say.
  package static func open(
    directory: String, feed: any EventFeed, logIdentity: UUIDBytes, recorder: any OutcomeRecorder,
    sender: any NoticeSender, logger: Logger, now: @escaping @Sendable () -> Timestamp,
    progress: @Sendable (OpeningProgress) -> Void = { _ in }
  ) async throws -> PushService {
    // On a thread that may block: the server already responds to liveness checks, on the threads that run tasks.
    let outbox = try await NIOThreadPool.singleton.runIfActive {
      try ProjectionRunner<PushProjection>.open(
        directory: directory, feed: feed, logIdentity: logIdentity, logger: logger)
    }
    let dispatcher = PushDispatcher(
      outbox: outbox, head: { feed.head }, recorder: recorder, sender: sender, logIdentity: logIdentity,
      logger: logger, now: now)
    outbox.start { _ in dispatcher.outboxGrew() }
    do {
      try await catchUp(outbox, to: feed.head, logger, progress)
      if try await outbox.read({ try $0.settledThrough() }) == nil {
        try await recorder.record(PushOutcomes(settledThrough: outbox.position, outcomes: []))
      }
    } catch {
      // Otherwise its thread would go on with a file that nobody closes.
      try? outbox.stop()
      throw error
    }
    return PushService(outbox: outbox, dispatcher: dispatcher, sender: sender)
  }

  /// Why push stands still, when it does. The rest of the server goes on.
  package var halted: ProjectionFault? { outbox.halted }

  /// Sends nothing more, waits for what is under way, and records its outcomes. Before the log takes no more events.
  package func stopSending() async {
    dispatcher.stop()
    await dispatching.value
    await sender.close()
  }

  /// Closes the outbox. After `stopSending`, and after the feed was closed. Blocks.
  package func close() throws { try outbox.stop() }

  private static func catchUp(
    _ outbox: ProjectionRunner<PushProjection>, to head: LogPosition, _ logger: Logger,
    _ progress: @Sendable (OpeningProgress) -> Void
  ) async throws {
    var last = outbox.position
    var idleSince = ContinuousClock.now
    while true {
      if let halt = outbox.halted { throw PushOpeningError.halted(halt) }
      let now = OpeningProgress([outbox.standing], of: head)
      if now.isComplete { return }
      progress(now)
      if outbox.position != last {
        last = outbox.position
        idleSince = .now
      } else if .now - idleSince > .milliseconds(slownessMilliseconds) {
        idleSince = .now
        logger.warning(
          "the outbox has made no progress for a minute; the server keeps waiting. Check the disk",
          metadata: ["progress": "\(now)"])
      }
      try await Task.sleep(for: .milliseconds(lookMilliseconds))
    }
  }
}

/// Why push could not be started.
package enum PushOpeningError: Error, Sendable, CustomStringConvertible {
  case halted(ProjectionFault)

  package var description: String {
    switch self {
    case .halted(let halt): "\(halt)"
    }
  }
}
