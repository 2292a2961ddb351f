package import ChatDomain
package import ChatPrimitives
package import ChatProjections
package import CoreMetrics
package import EventLog
package import EventStore
import Foundation
package import Logging
package import MediaFiles
package import NIOPosix
import Synchronization

/// Opens a service with everything that it needs from the data directory.
///
/// The read models first catch up with the log. Then the decision state is restored from them, so starting reads their
/// files and only the end of the log.
package struct ServiceOpening: Sendable {
  package var directory: String
  /// How long an access token is valid, in milliseconds.
  package var tokenLifetimeMilliseconds: Int64
  package var passwordCost = PasswordHasher.Cost()
  package var media = MediaStore.Settings()
  package var rules = AccountRules()
  package var quotas = Quotas()
  /// Less free space than this is reported as low.
  package var lowStorageBytes = StorageSpace.defaultLowBytes
  /// Called once, when the log accepts nothing more.
  package var onLogFailure: @Sendable (StorageSpace) -> Void = { _ in }
  /// The clock of the service.
  package var clock = CheckedClock.Source.system
  package var logger: Logger
  /// Where the metrics of the writer are kept.
  package var metrics: any MetricsFactory = NOOPMetricsHandler.instance

  package init(directory: String, tokenLifetimeMilliseconds: Int64, logger: Logger) {
    self.directory = directory
    self.tokenLifetimeMilliseconds = tokenLifetimeMilliseconds
    self.logger = logger
  }

  /// How long an ended session is remembered, so that its access tokens and its signed URLs are refused, in milliseconds.
  private var endedSessionMilliseconds: Int64 { max(tokenLifetimeMilliseconds, MediaSignatures.longestMilliseconds) }

  /// The wait before another attempt to read the decision state, in milliseconds.
  private static let restorePauseMilliseconds = 500

  /// What was opened. `close` closes it in the opposite order.
  package struct Opened: Sendable {
    package let chat: ChatService
    package let log: any BlockStore
    package let keys: ServerKeys
    private let pool: NIOThreadPool

    fileprivate init(chat: ChatService, log: any BlockStore, keys: ServerKeys, pool: NIOThreadPool) {
      self.chat = chat
      self.log = log
      self.keys = keys
      self.pool = pool
    }

    /// Writes what is queued, stops every thread and releases the directory. Blocks until that is done. Continues after
    /// a failed step and throws the first failure.
    ///
    /// - Parameter closeFollowers: closes other readers of the log, after the last event.
    package func close(_ closeFollowers: () throws -> Void = {}) throws {
      chat.live.stop()
      chat.pipeline.close()
      chat.store.close()
      let followers = Result { try closeFollowers() }
      let readModels = Result { try chat.readModels.close() }
      let log = Result { try self.log.close() }
      pool.shutdownGracefully { _ in }
      chat.media.close()
      try followers.get()
      try readModels.get()
      try log.get()
    }
  }

  /// Takes ownership of the log: it is closed if opening fails, and by `Opened.close` otherwise.
  /// - Parameters:
  ///   - log: open for writing.
  ///   - lastTime: the time of the log's last record.
  ///   - progress: called with the progress of the read models while they catch up.
  package func open(
    log: any BlockStore, lastTime: Timestamp, progress: @escaping @Sendable (OpeningProgress) -> Void = { _ in }
  ) async throws -> Opened {
    do {
      let (keys, store, media) = try await Self.blocking { [directory, media] in
        let keys = try ServerKeys.load(directory: directory, log: log.identity.bytes, mayCreate: log.head == .origin)
        let store = EventStore(log: log)
        return (keys, store, try MediaStore(directory: directory + "/media", settings: media))
      }
      let readModels: ReadModels
      do {
        try await buildMissing(store, progress)
        readModels = try await Self.blocking { [directory, logger] in
          try ReadModels.open(
            directory: directory + "/views", feed: store, logIdentity: log.identity.bytes, logger: logger)
        }
      } catch {
        media.close()
        throw error
      }
      do {
        return try await open(keys, store, readModels, media, lastTime, progress)
      } catch {
        media.close()
        store.close()
        try? readModels.close()
        throw error
      }
    } catch {
      try? log.close()
      throw error
    }
  }

  /// Builds the read models that the deciders' state needs and that have no file, such as after an upgrade, with one scan of
  /// the log. If that fails, they follow the log by themselves, and report what is wrong.
  private func buildMissing(
    _ store: EventStore, _ progress: @escaping @Sendable (OpeningProgress) -> Void
  ) async throws {
    let rebuild = ProjectionRebuild(
      directory: directory + "/views", feed: store, logIdentity: store.log.identity.bytes)
    let isCancelled = Mutex(false)
    do {
      let names = try await withTaskCancellationHandler {
        try await Self.blocking {
          try rebuild.buildMissing(Projections.ofDecisions, isCancelled: { isCancelled.withLock { $0 } }) {
            progress(OpeningProgress(building: $0, $1))
          }
        }
      } onCancel: {
        isCancelled.withLock { $0 = true }
      }
      guard !names.isEmpty else { return }
      logger.notice(
        "read models were built from the log", metadata: ["projections": "\(names.joined(separator: ", "))"])
    } catch is CancellationError {
      throw CancellationError()
    } catch {
      logger.warning(
        "read models could not be built together; each follows the log by itself", metadata: ["reason": "\(error)"])
    }
  }

  private func open(
    _ keys: ServerKeys, _ store: EventStore, _ readModels: ReadModels, _ media: MediaStore, _ lastTime: Timestamp,
    _ progress: @Sendable (OpeningProgress) -> Void
  ) async throws -> Opened {
    let progressThrottle = ProgressThrottle()
    readModels.start { progressThrottle.send($0) }
    let head = store.head
    try await catchUp(readModels, head, progress)
    let clock = try await Self.blocking { [self] in
      let checked = CheckedClock(self.clock, lastRecorded: lastTime, directory: directory, logger: logger)
      checked.keepSettled()
      return checked
    }
    let storage = try await Self.blocking { [directory, lowStorageBytes, logger] in
      StorageSpace(lowBytes: lowStorageBytes, logger: logger) { part in
        part == .data ? directory : "\(directory)/\(part.rawValue)"
      }
    }
    let (ids, state, ended) = try await restore(readModels, head, lastTime, clock, progress)
    let gate = SessionGate(lifetimeMilliseconds: endedSessionMilliseconds, users: state.users, ended: ended)
    let pipeline = CommitPipeline(
      store: store, machine: state, lastTime: lastTime, metrics: CommitMetrics(metrics), clock: { clock.now }
    ) { [onLogFailure] reason in
      logger.critical(
        "the log accepts no more events; reads continue. Remove the cause, then restart the server",
        metadata: ["reason": "\(reason)"])
      onLogFailure(storage)
    }
    progressThrottle.connect { position in pipeline.maintain { $0.forget(through: position) } }
    let pool = NIOThreadPool(numberOfThreads: PasswordHasher.threads)
    pool.start()
    let chat = ChatService(
      store: store, readModels: readModels, pipeline: pipeline, knownIDs: ids, gate: gate,
      hasher: PasswordHasher(keys: keys, pool: pool, cost: passwordCost), keys: keys, rules: rules, quotas: quotas,
      signingKeys: SigningKeys(keys: keys, history: state.signingKeys), media: media, clock: clock, storage: storage,
      live: LiveFeed(store: store, readModels: readModels, gate: gate, logger: logger) { clock.now })
    chat.live.start()
    return Opened(chat: chat, log: store.log, keys: keys, pool: pool)
  }

  /// Reads the decision state, and the ended sessions whose tokens or URLs may still be valid, from the read models at the
  /// log's head. If a file turns out to be damaged, its runner rebuilds it, and everything is read again.
  private func restore(
    _ readModels: ReadModels, _ head: LogPosition, _ lastTime: Timestamp, _ clock: CheckedClock,
    _ progress: @Sendable (OpeningProgress) -> Void
  ) async throws -> (KnownIDs, DecisionState, [EndedSession]) {
    while true {
      do {
        let (known, now) = try await Self.blocking {
          (try readModels.ids.readBlocking { try $0.restoreFilter() }, clock.now)
        }
        let ids = KnownIDs(known.filter, newest: known.position)
        let source = DecisionStateSource(readModels)
        let state = try await DecisionState(
          restoring: source, knownIDs: ids, floor: head, quotas: quotas, rules: rules, at: now)
        let oldest = min(now, lastTime).adding(milliseconds: -endedSessionMilliseconds)
        return (ids, state, try await Self.blocking { try source.sessionsEnded(since: oldest) })
      } catch let error as ProjectionBehind {
        logger.warning(
          "the decision state could not be read yet; the server tries again", metadata: ["reason": "\(error)"])
        try await Task.sleep(for: .milliseconds(Self.restorePauseMilliseconds))
        try await catchUp(readModels, head, progress)
      }
    }
  }

  /// On a thread that may block: the server already responds to liveness checks, on the threads that run tasks.
  private static func blocking<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
    try await NIOThreadPool.singleton.runIfActive(body)
  }

  private func catchUp(
    _ readModels: ReadModels, _ head: LogPosition, _ progress: @Sendable (OpeningProgress) -> Void
  ) async throws {
    let catchUp = CatchUp(
      reporting: "the read models have made no progress for a minute; the server keeps waiting. Check the disk",
      logger: logger)
    try await catchUp.wait(for: head, statuses: { readModels.decisionStatuses }, progress: progress)
  }
}

/// The progress of the read models while a service is opened.
package struct OpeningProgress: Sendable, CustomStringConvertible {
  /// The read model that is furthest behind.
  package let slowest: ProjectionStatus
  /// The log's head.
  package let head: LogPosition
  /// Whether all of them can be read at the head.
  package let isComplete: Bool
  /// The read models that are built together, before any of them has a file.
  private let building: [String]

  /// - Parameter statuses: at least one.
  package init(_ statuses: [ProjectionStatus], of head: LogPosition) {
    let none = ProjectionStatus(name: "", position: head, target: nil, fault: nil)
    building = []
    slowest = statuses.min { $0.position < $1.position } ?? none
    self.head = head
    isComplete = statuses.allSatisfy { $0.position >= head && $0.isReadable }
  }

  init(building names: [String], _ progress: RebuildProgress) {
    building = names
    head = LogPosition(progress.total)
    slowest = ProjectionStatus(
      name: names.joined(separator: ", "), position: LogPosition(progress.done), target: head, fault: nil)
    isComplete = false
  }

  package var description: String {
    if building.count > 1 {
      return "the read models \(slowest.name) are being built and have applied \(slowest.position) of \(head) events"
    }
    let progress = "the read model \(slowest.name) has applied \(slowest.position) of \(head) events"
    guard let fault = slowest.fault else { return progress }
    return "\(progress); \(fault)"
  }
}

/// Why a data directory could not be opened.
package enum OpeningError: Error, CustomStringConvertible {
  case halted(ProjectionFault)

  package var description: String {
    switch self {
    case .halted(let halt): "\(halt)"
    }
  }
}
