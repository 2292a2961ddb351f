import ChatDomain
package import ChatPrimitives
import Dispatch
package import EventStore
import Foundation
import GRDB
package import Logging
import Synchronization

/// Follows the feed with one projection, on a thread of its own, and lets others read it and wait for it.
package final class ProjectionRunner<P: Projection>: Sendable {
  /// How many events at most are applied at once, and make one transaction.
  package static var batchEvents: Int { 4096 }
  /// How many times as many make one transaction while so many wait: a page that messages of several batches change is
  /// written once then. Who reads waits for all that waits anyway.
  package static var batchesWhenBehind: Int { 4 }
  /// How long a read waits at most for what was durable when it came in, in milliseconds.
  package static var defaultTimeoutMilliseconds: Int { 5000 }

  /// After how long a step of upkeep is tried again that something was in the way of.
  private static var upkeepRetryMilliseconds: Int { 250 }

  private typealias Waiter = CheckedContinuation<Result<Void, ProjectionBehind>, Never>

  private struct State {
    var position: LogPosition
    var halt: ProjectionHalt?
    var isStarted = false
    var isStopping = false
    var waiters = WaiterList<Waiter>()
  }

  private let pool: DatabasePool
  private let feed: any EventFeed
  private let logger: Logger
  private let state: Mutex<State>
  /// Signalled when a reader waits, and when the thread is to end.
  private let hurry = TimedSemaphore()
  /// Signalled when the thread is through; each who waits for it passes the signal on.
  private let finished = DispatchSemaphore(value: 0)

  private init(pool: DatabasePool, feed: any EventFeed, position: LogPosition, logger: Logger) {
    self.pool = pool
    self.feed = feed
    self.logger = logger
    state = Mutex(State(position: position))
  }

  /// Opens the projection's file in `directory`, or makes it. Blocks on the disk.
  ///
  /// A file of another log, one that is ahead of the feed and a damaged one are moved aside with a warning, and the
  /// projection is built anew from the first event. Nothing is applied before `start`.
  package static func open(
    directory: String, feed: any EventFeed, logIdentity: UUIDBytes, logger: Logger
  ) throws -> ProjectionRunner {
    try ProjectionFile.makeDirectory(directory)
    let opening = ProjectionOpening(
      projection: P.self, file: ProjectionFile(P.self, in: directory), logIdentity: logIdentity, head: feed.head,
      logger: logger)
    let (pool, checkpoint) = try opening.open()
    return ProjectionRunner(pool: pool, feed: feed, position: checkpoint.position, logger: logger)
  }

  // MARK: - Where it stands

  /// The last event that readers see.
  package var position: LogPosition { state.withLock { $0.position } }
  /// How many durable events are not in the read model yet.
  package var lag: UInt64 { feed.head.distance(from: position) }
  /// How many reads wait for it to come to a position.
  package var waiting: Int { state.withLock { $0.waiters.count } }
  /// Why it stands still, when it does: readiness is red then.
  package var halted: ProjectionHalt? { state.withLock { $0.halt } }

  /// Returns when the read model has applied `position`, at once when it already has.
  /// - Throws: `ProjectionBehind` after the timeout, when the task is cancelled, and when the projection has halted or
  ///   been stopped before it came there.
  package func wait(
    for position: LogPosition, timeoutMilliseconds: Int = defaultTimeoutMilliseconds
  ) async throws(ProjectionBehind) {
    let ticket = state.withLock { state in
      state.position >= position ? nil : state.waiters.ticket(for: position)
    }
    guard let ticket else { return }
    let timer = Task {
      try await Task.sleep(for: .milliseconds(timeoutMilliseconds))
      self.giveUp(ticket, position, .timedOut)
    }
    defer { timer.cancel() }
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { (waiter: Waiter) in self.enqueue(waiter, ticket, position) }
    } onCancel: {
      self.giveUp(ticket, position, .cancelled)
    }
    try result.get()
  }

  private func enqueue(_ waiter: Waiter, _ ticket: WaiterList<Waiter>.Ticket, _ position: LogPosition) {
    let answer: Result<Void, ProjectionBehind>? = state.withLock { state in
      if state.position >= position { return .success(()) }
      if state.halt != nil { return .failure(behind(state, position, .halted)) }
      if state.isStopping { return .failure(behind(state, position, .stopped)) }
      state.waiters.add(waiter, ticket)
      return nil
    }
    if let answer { return waiter.resume(returning: answer) }
    hurry.signal()
    // A cancellation that came before the waiter was added found nothing to take back.
    if Task.isCancelled { giveUp(ticket, position, .cancelled) }
  }

  private func giveUp(
    _ ticket: WaiterList<Waiter>.Ticket, _ position: LogPosition, _ reason: ProjectionBehind.Reason
  ) {
    let (waiter, error) = state.withLock { ($0.waiters.remove(ticket), behind($0, position, reason)) }
    waiter?.resume(returning: .failure(error))
  }

  private func behind(
    _ state: State, _ wanted: LogPosition, _ reason: ProjectionBehind.Reason
  ) -> ProjectionBehind {
    ProjectionBehind(projection: P.name, wanted: wanted, reached: state.position, reason: reason)
  }

  // MARK: - Reading

  /// Runs `body` in one snapshot, off the cooperative pool.
  package func read<T: Sendable>(_ body: @escaping @Sendable (P.Queries) throws -> T) async throws -> T {
    try await pool.read { database in try body(P.Queries(database)) }
  }

  /// The same, blocking the calling thread.
  package func readBlocking<T>(_ body: (P.Queries) throws -> T) throws -> T {
    try pool.read { database in try body(P.Queries(database)) }
  }

  // MARK: - Following

  /// Starts the thread that applies what the feed has and what comes.
  /// - Parameter onApplied: called on that thread after each transaction, with the position that readers now see.
  package func start(onApplied: @escaping @Sendable (LogPosition) -> Void = { _ in }) {
    let isFirst = state.withLock { state in
      defer { state.isStarted = true }
      return !state.isStarted && !state.isStopping
    }
    guard isFirst else { return }
    let thread = Thread {
      // Named from within: only so does the system show the name too. It shows fifteen characters.
      Thread.current.name = "view-\(P.name)"
      self.follow(onApplied)
      self.finished.signal()
    }
    thread.start()
  }

  /// Waits for the thread to end and closes the file. The feed must have been closed before: a thread that waits for
  /// the feed's head wakes by that alone.
  package func stop() throws {
    let isStarted = state.withLock { state in
      state.isStopping = true
      return state.isStarted
    }
    hurry.signal()
    if isStarted {
      finished.wait()
      finished.signal()
    }
    failWaiters(.stopped)
    try pool.close()
  }

  private func follow(_ onApplied: (LogPosition) -> Void) {
    var projection = P()
    var cache = WriterCache()
    // What a stop or a crash left to clear is found by the first step.
    var isClearing = !P.clearedPlaces.isEmpty
    do {
      while let position = nextStart(), try keepUp(&projection, &isClearing, at: position),
        feed.waitForHead(beyond: position)
      {
        let turn = try pool.write { database in
          try cache.fit(isBehind: isBehind(at: position), database)
          return try apply(after: position, with: &projection, to: database)
        }
        publish(turn.position)
        onApplied(turn.position)
        if !P.clearedPlaces.isEmpty, turn.leavesSomethingToClear { isClearing = true }
        // One step for each batch: who waits for the next one waits for no more than that, and it ends however busy the
        // server is.
        if isClearing { isClearing = try clear() } else if turn.isAll { gather() }
      }
    } catch {
      halt(because: error)
    }
  }

  /// What one transaction applied.
  private struct Turn {
    var position: LogPosition
    /// Whether it was all that waited when it was asked for.
    var isAll = false
    var leavesSomethingToClear = false
  }

  /// Whether so much waits that one transaction takes several batches.
  private func isBehind(at position: LogPosition) -> Bool {
    feed.head.distance(from: position) >= UInt64(clamping: Self.batchEvents * Self.batchesWhenBehind)
  }

  /// Called within a transaction.
  private func apply(after position: LogPosition, with projection: inout P, to database: Database) throws -> Turn {
    var turn = Turn(position: position)
    for _ in 0..<(isBehind(at: position) ? Self.batchesWhenBehind : 1) {
      let events: [RecordedEvent]
      do {
        events = try feed.events(after: turn.position, limit: Self.batchEvents)
      } catch {
        // What could be read is kept; the next turn finds what cannot be.
        if turn.position > position { break }
        throw error
      }
      turn.position = try ProjectionBatch.apply(events, after: turn.position, with: &projection, to: database)
      if events.contains(where: Clearing.follows) { turn.leavesSomethingToClear = true }
      // What one transaction was too small for follows at once.
      guard turn.position == events.last?.position else { break }
      turn.isAll = events.count < Self.batchEvents
    }
    return turn
  }

  /// One step, in a transaction of its own.
  /// - Returns: whether there is more to do.
  private func clear() throws -> Bool { try pool.write { try Clearing.step(P.clearedPlaces, $0) } }

  /// Does what is left to do to the file, until an event waits. First what is left to clear: only then can the file be
  /// rid of the pages of before.
  /// - Returns: true, when all is done or events wait.
  private func keepUp(_ projection: inout P, _ isClearing: inout Bool, at position: LogPosition) throws -> Bool {
    while isClearing, feed.head <= position {
      isClearing = try clear()
      if nextStart() == nil { return false }
    }
    guard P.needsUpkeep, !isClearing else { return true }
    while true {
      let isIdle = feed.head <= position
      switch try pool.writeWithoutTransaction({ try projection.upkeep($0, isIdle: isIdle) }) {
      case .done: return true
      case .more: if !isIdle { return true }
      case .blocked:
        if !isIdle { return true }
        hurry.wait(milliseconds: Self.upkeepRetryMilliseconds)
      }
      if nextStart() == nil { return false }
    }
  }

  /// Lets events come together: one transaction for many costs a fraction of one for each.
  private func gather() {
    hurry.wait(milliseconds: P.gatheringMilliseconds)
  }

  private func nextStart() -> LogPosition? {
    state.withLock { $0.isStopping ? nil : $0.position }
  }

  private func publish(_ position: LogPosition) {
    let ready = state.withLock { state in
      state.position = position
      return state.waiters.advance(to: position)
    }
    for waiter in ready { waiter.resume(returning: .success(())) }
  }

  private func halt(because error: any Error) {
    let halt = state.withLock { state in
      let halt = ProjectionHalt(projection: P.name, position: state.position, message: "\(error)")
      state.halt = halt
      return halt
    }
    logger.critical(
      "a projection halted and stays so until the server is started again",
      metadata: [
        "projection": "\(P.name)", "position": "\(halt.position)", "error": "\(halt.message)",
      ])
    failWaiters(.halted)
  }

  private func failWaiters(_ reason: ProjectionBehind.Reason) {
    let (waiters, reached) = state.withLock { ($0.waiters.removeAll(), $0.position) }
    for (wanted, waiter) in waiters {
      let error = ProjectionBehind(projection: P.name, wanted: wanted, reached: reached, reason: reason)
      waiter.resume(returning: .failure(error))
    }
  }
}
