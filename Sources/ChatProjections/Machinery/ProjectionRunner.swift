import ChatDomain
package import ChatPrimitives
import Dispatch
package import EventStore
import Foundation
import GRDB
package import Logging
import Synchronization

/// Follows the feed with one projection, on a thread of its own, and lets others read it and wait for it.
///
/// While the server runs, a step with a temporary fault is tried again, and a damaged file is rebuilt. Until then, a
/// read of a file that is not complete and a wait for newer events fail at once with `ProjectionBehind`.
package final class ProjectionRunner<P: Projection>: Sendable {
  /// How many events at most are applied at once, and make one transaction.
  package static var batchEvents: Int { 4096 }
  /// How many times as many make one transaction while so many wait: a page that messages of several batches change is
  /// written once then. Who reads waits for all that waits anyway.
  package static var batchesWhenBehind: Int { 4 }
  /// How long a read waits at most for what was durable when it came in, in milliseconds.
  package static var defaultTimeoutMilliseconds: Int { 5000 }

  typealias Waiter = CheckedContinuation<Result<Void, ProjectionBehind>, Never>

  struct State {
    /// nil while the file cannot be opened.
    var pool: DatabasePool?
    var position = LogPosition.origin
    /// Nothing is read before the read model has reached this position: until then it is being rebuilt.
    var readableFrom = LogPosition.origin
    /// Why it does not follow the log; nil while it does.
    var fault: ProjectionFault?
    /// Damage that a query found; the thread rebuilds the file.
    var damage: ProjectionFault?
    var readFault = ReadFault()
    var isStarted = false
    var isStopping = false
    var waiters = WaiterList<Waiter>()

    var isReadable: Bool { position >= readableFrom }
    var followingFault: ProjectionFault? { fault ?? damage }
    var halt: ProjectionFault? { fault?.kind == .permanent ? fault : nil }
    var reason: ProjectionBehind.Reason? {
      if let fault { return fault.kind == .permanent ? .halted : .failing }
      return isStopping ? .stopped : nil
    }
  }

  let opening: ProjectionOpening
  let feed: any EventFeed
  let logger: Logger
  let state = Mutex(State())
  /// Signalled when a reader waits, and when the thread is to end.
  let hurry = TimedSemaphore()
  /// Signalled when the thread is through; each who waits for it passes the signal on.
  let finished = DispatchSemaphore(value: 0)

  private init(opening: ProjectionOpening, feed: any EventFeed, logger: Logger) {
    self.opening = opening
    self.feed = feed
    self.logger = logger
  }

  /// Opens the projection's file in `directory`, or makes it. Blocks on the disk.
  ///
  /// A file of another log, one that is ahead of the feed and a damaged one are moved aside with a warning, and the
  /// projection is rebuilt from the first event. If the file cannot be opened because of a temporary fault, the started
  /// runner tries again. Nothing is applied before `start`.
  package static func open(
    directory: String, feed: any EventFeed, logIdentity: UUIDBytes, logger: Logger
  ) throws -> ProjectionRunner {
    try ProjectionFile.makeDirectory(directory)
    let opening = ProjectionOpening(
      projection: P.self, file: ProjectionFile(P.self, in: directory), logIdentity: logIdentity, logger: logger)
    let runner = ProjectionRunner(opening: opening, feed: feed, logger: logger)
    do {
      try runner.openFile()
    } catch let error where ProjectionFault.Kind(following: error) == .temporary {
      // The first step on the thread tries again, and logs the fault.
      let fault = runner.fault(.temporary, error)
      runner.state.withLock { $0.fault = fault }
    }
    return runner
  }

  // MARK: - Where it stands

  /// The last event that readers see.
  package var position: LogPosition { state.withLock { $0.position } }
  /// How many durable events are not in the read model yet.
  package var lag: UInt64 { feed.head.distance(from: position) }
  /// How many reads wait for it to come to a position.
  package var waiting: Int { state.withLock { $0.waiters.count } }
  /// Why it has halted until the server is restarted; nil if it has not.
  package var halted: ProjectionFault? { state.withLock { $0.halt } }
  /// Why it does not follow the log; nil while it does, even while queries fail.
  package var followingFault: ProjectionFault? { state.withLock { $0.followingFault } }

  package var status: ProjectionStatus {
    state.withLock { state in
      ProjectionStatus(
        name: P.name, position: state.position, target: state.isReadable ? nil : state.readableFrom,
        fault: state.followingFault ?? state.readFault.current(at: .now))
    }
  }

  /// Returns when the read model has applied `position`, at once when it already has.
  /// - Throws: `ProjectionBehind` after the timeout, when the task is cancelled, and when the projection fails, halts
  ///   or is stopped before it comes there.
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
      if let reason = state.reason { return .failure(behind(state, position, reason)) }
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

  func failWaiters(_ reason: ProjectionBehind.Reason) {
    let (waiters, reached) = state.withLock { ($0.waiters.removeAll(), $0.position) }
    for (wanted, waiter) in waiters {
      let error = ProjectionBehind(projection: P.name, wanted: wanted, reached: reached, reason: reason)
      waiter.resume(returning: .failure(error))
    }
  }

  // MARK: - Reading

  /// Runs `body` in one snapshot, off the cooperative pool.
  /// - Throws: `ProjectionBehind` while the file is being rebuilt or cannot be read, and what `body` throws.
  package func read<T: Sendable>(_ body: @escaping @Sendable (P.Queries) throws -> T) async throws -> T {
    let (pool, hasReadFault) = try readablePool()
    do {
      let result = try await pool.read { database in try body(P.Queries(database)) }
      if hasReadFault { resolveReadFault() }
      return result
    } catch {
      throw failure(of: pool, error)
    }
  }

  /// The same, blocking the calling thread.
  package func readBlocking<T>(_ body: (P.Queries) throws -> T) throws -> T {
    let (pool, hasReadFault) = try readablePool()
    do {
      let result = try pool.read { database in try body(P.Queries(database)) }
      if hasReadFault { resolveReadFault() }
      return result
    } catch {
      throw failure(of: pool, error)
    }
  }

  /// The open file, and whether a query that succeeds resolves a fault.
  private func readablePool() throws(ProjectionBehind) -> (pool: DatabasePool, hasReadFault: Bool) {
    let result: Result<(pool: DatabasePool, hasReadFault: Bool), ProjectionBehind> = state.withLock { state in
      guard let pool = state.pool, state.damage == nil, state.isReadable else {
        return .failure(behind(state, state.readableFrom, state.reason ?? .failing))
      }
      return .success((pool: pool, hasReadFault: state.readFault.isUnresolved))
    }
    return try result.get()
  }

  /// The error to throw from a query that failed. If the file is damaged, the thread is told to rebuild it; a temporary
  /// fault is logged, and reported in `status`.
  private func failure(of pool: DatabasePool, _ error: any Error) -> any Error {
    let isCurrent = state.withLock { $0.pool === pool }
    // The file was closed under the query.
    guard isCurrent else { return state.withLock { behind($0, $0.readableFrom, .failing) } }
    // GRDB interrupts the query of a cancelled task: its client has left, and the file is in order.
    if (error as? DatabaseError)?.resultCode == .SQLITE_INTERRUPT { return CancellationError() }
    guard let kind = ProjectionFault.Kind(reading: error) else { return error }
    let fault = fault(kind, error)
    if kind == .damaged {
      state.withLock { if $0.pool === pool, $0.damage == nil { $0.damage = fault } }
      feed.wakeWaiters()
      hurry.signal()
    } else {
      noteReadFault(fault)
    }
    return state.withLock { behind($0, $0.position, .failing) }
  }

  private func noteReadFault(_ fault: ProjectionFault) {
    let isNew = state.withLock { $0.readFault.met(fault, at: .now) }
    guard isNew else { return }
    logger.warning(
      "a read model cannot be read; requests that need it fail",
      metadata: [
        "projection": "\(P.name)", "file": "\(opening.file.path)", "position": "\(fault.position)",
        "reason": "\(fault.message)", "advice": "\(fault.advice)",
      ])
  }

  private func resolveReadFault() {
    state.withLock { $0.readFault.querySucceeded() }
  }

  func fault(_ kind: ProjectionFault.Kind, _ error: any Error) -> ProjectionFault {
    if let fault = error as? ProjectionFault { return fault }
    return ProjectionFault(
      projection: P.name, file: opening.file.name, kind: kind, position: position,
      message: ProjectionFault.message(of: error), advice: kind.advice(on: error))
  }
}

/// The status of a read model.
package struct ProjectionStatus: Sendable, Hashable {
  package let name: String
  /// The last event that it has applied.
  package let position: LogPosition
  /// While it is being rebuilt, the position from which it can be read.
  package let target: LogPosition?
  /// Why it does not follow the log, or why queries fail; nil while neither is so.
  package let fault: ProjectionFault?

  package init(name: String, position: LogPosition, target: LogPosition?, fault: ProjectionFault?) {
    self.name = name
    self.position = position
    self.target = target
    self.fault = fault
  }

  /// Whether it follows the log and can be read: it is not being rebuilt, and it has no fault.
  package var isReadable: Bool { target == nil && fault == nil }
}
