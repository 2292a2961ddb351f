import ChatDomain
package import ChatPrimitives
package import ChatProjections
package import EventStore
package import Logging

/// Push as the server runs it: the outbox that follows the log, and the dispatcher that empties it.
package final class PushService: Sendable {
  /// How long the outbox may take no step before starting is given up, in milliseconds.
  private static let catchUpMilliseconds = 60_000
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
  ///   - progress: told how many events the outbox has applied of how many, while it catches up.
  /// - Throws: `PushOpeningError`, or what the file or the log say.
  package static func open(
    directory: String, feed: any EventFeed, logIdentity: UUIDBytes, recorder: any OutcomeRecorder,
    sender: any NoticeSender, logger: Logger, now: @escaping @Sendable () -> Timestamp,
    progress: @Sendable (_ done: UInt64, _ of: UInt64) -> Void = { _, _ in }
  ) async throws -> PushService {
    let outbox = try ProjectionRunner<PushProjection>.open(
      directory: directory, feed: feed, logIdentity: logIdentity, logger: logger)
    let dispatcher = PushDispatcher(
      outbox: outbox, head: { feed.head }, recorder: recorder, sender: sender, logIdentity: logIdentity,
      logger: logger, now: now)
    outbox.start { _ in dispatcher.outboxGrew() }
    try await catchUp(outbox, to: feed.head, progress)
    if try await outbox.read({ try $0.settledThrough() }) == nil {
      try await recorder.record(PushOutcomes(settledThrough: outbox.position, outcomes: []))
    }
    return PushService(outbox: outbox, dispatcher: dispatcher, sender: sender)
  }

  /// Why push stands still, when it does. The rest of the server goes on.
  package var halted: ProjectionHalt? { outbox.halted }

  /// Sends nothing more, waits for what is under way, and records its outcomes. Before the log takes no more events.
  package func stopSending() async {
    dispatcher.stop()
    await dispatching.value
    await sender.close()
  }

  /// Closes the outbox. After `stopSending`, and after the feed was closed. Blocks.
  package func close() throws { try outbox.stop() }

  private static func catchUp(
    _ outbox: ProjectionRunner<PushProjection>, to head: LogPosition, _ progress: @Sendable (UInt64, UInt64) -> Void
  ) async throws {
    var last = outbox.position
    var idleSince = ContinuousClock.now
    while outbox.position < head {
      if let halt = outbox.halted { throw PushOpeningError.halted(halt) }
      if outbox.position > last {
        last = outbox.position
        idleSince = .now
      } else if .now - idleSince > .milliseconds(catchUpMilliseconds) {
        throw PushOpeningError.stalled(at: last, head: head)
      }
      progress(last.value, head.value)
      try await Task.sleep(for: .milliseconds(lookMilliseconds))
    }
  }
}

/// Why push could not be started.
package enum PushOpeningError: Error, Sendable, CustomStringConvertible {
  case halted(ProjectionHalt)
  case stalled(at: LogPosition, head: LogPosition)

  package var description: String {
    switch self {
    case .halted(let halt): "the outbox cannot go on after position \(halt.position): \(halt.message)"
    case .stalled(let position, let head):
      "the outbox stands at \(position) of \(head) events and does not move; look at the disk"
    }
  }
}
