import ChatDomain
package import ChatPrimitives
import Dispatch
package import EventStore
import Foundation
import GRDB
package import Logging
import Synchronization

/// Applies the feed's events to one projection, on its own thread. Others can read the projection and wait for it.
///
/// While the server runs, a step with a temporary fault is tried again, and a damaged file is rebuilt. Until then,
/// reads of an incomplete file and waits for newer events fail at once with `ProjectionBehind`.
package final class ProjectionRunner<P: Projection>: Sendable {
  /// The approximate maximum number of events in one transaction, if so many are waiting or the read model gathers events
  /// for longer in bursts. A row or a page that several of them change is written once. Readers lose little, because they wait
  /// for all events that were durable when they arrived anyway.
  package static var transactionEvents: Int { 16_384 }
  /// The same otherwise, and if so many events cannot be read at once. A rebuild also hands its file over when at most so
  /// many events are missing.
  package static var batchEvents: Int { 4096 }
  /// How long a read waits at most for the events that were durable when it arrived, in milliseconds.
  package static var defaultTimeoutMilliseconds: Int { 5000 }

  /// A task or a thread that waits for a position.
  enum Waiter: Sendable {
    case task(CheckedContinuation<Result<Void, ProjectionBehind>, Never>)
    case thread(WaitingThread)

    func resume(returning result: Result<Void, ProjectionBehind>) {
      switch self {
      case .task(let continuation): continuation.resume(returning: result)
      case .thread(let thread): thread.resume(returning: result)
      }
    }
  }

  struct State {
    var file: ProjectionFile
    /// Nil while the file cannot be opened.
    var pool: DatabasePool?
    /// Nil if `pool` is.
    var checkpoints: BackgroundCheckpoints?
    var position = LogPosition.origin
    /// Reads fail until the read model has reached this position, because it is being rebuilt.
    var readableFrom = LogPosition.origin
    /// Why it does not follow the log; nil while it does.
    var fault: ProjectionFault?
    /// Damage that a query found. The thread then rebuilds the file.
    var damage: ProjectionFault?
    var readFault = ReadFault()
    var isStarted = false
    var isStopping = false
    var waiters = WaiterList<Waiter>()
    /// The last rebuild beside the server; nil if there was none.
    var rebuild: ViewRebuild?
    /// The first filling of a file without rows; nil if there is none.
    var filling: ViewRebuild?
    /// Waits for the thread to take it over.
    var rebuilt: RebuiltFile?
    /// How many old files still exist after they were replaced.
    var retiring = 0

    var isReplacing: Bool { retiring > 0 || filling != nil || rebuild?.isRunning == true }
    /// The last event that the file has, or the one that replaces it soon because it has none.
    var filled: LogPosition { max(position, filling?.status.position ?? .origin) }
    var isReadable: Bool { position >= readableFrom }
    var followingFault: ProjectionFault? { fault ?? damage }
    var halt: ProjectionFault? { fault?.kind == .permanent ? fault : nil }
    var reason: ProjectionBehind.Reason? {
      if let fault { return fault.kind == .permanent ? .halted : .failing }
      return isStopping ? .stopped : nil
    }
  }

  private let firstOpening: ProjectionOpening
  let feed: any EventFeed
  let logger: Logger
  let state: Mutex<State>
  /// Signalled when a reader waits, and when the thread should end.
  let hurry = TimedSemaphore()
  /// Signalled when the thread has ended. Each waiter signals it again for the next.
  let finished = DispatchSemaphore(value: 0)
  /// Entered while a thread rebuilds the file, or closes and removes an old one.
  let background = DispatchGroup()

  private init(opening: ProjectionOpening, feed: any EventFeed, logger: Logger) {
    firstOpening = opening
    state = Mutex(State(file: opening.file))
    self.feed = feed
    self.logger = logger
  }

  /// Opens the projection's file in `directory`, or creates it. Blocks on the disk.
  ///
  /// A file of another log, a file that is ahead of the feed and a damaged file are moved aside with a warning, and the
  /// projection is rebuilt from the first event. If a temporary fault prevents opening the file, the thread tries again
  /// once it is started. No event is applied before `start`.
  package static func open(
    directory: String, feed: any EventFeed, logIdentity: UUIDBytes, logger: Logger
  ) throws -> ProjectionRunner {
    try ProjectionFile.makeDirectory(directory)
    ProjectionFile.removeLeftovers(of: P.self, in: directory)
    let opening = ProjectionOpening(
      projection: P.self, file: ProjectionFile(P.self, in: directory), logIdentity: logIdentity, logger: logger)
    let runner = ProjectionRunner(opening: opening, feed: feed, logger: logger)
    do {
      try runner.openFile()
    } catch let error where ProjectionFault.Kind(following: error) == .temporary {
      // The thread's first step tries again, and logs the fault.
      let fault = runner.fault(.temporary, error)
      runner.state.withLock { $0.fault = fault }
    }
    return runner
  }

  // MARK: - Status

  /// How the current file is opened.
  var opening: ProjectionOpening {
    var opening = firstOpening
    opening.file = state.withLock { $0.file }
    return opening
  }

  /// The last event that readers see.
  package var position: LogPosition { state.withLock { $0.position } }
  /// The number of durable events that are not yet in the read model.
  package var lag: UInt64 { feed.head.distance(from: position) }
  /// The number of reads that wait for it to reach a position.
  package var waiting: Int { state.withLock { $0.waiters.count } }
  /// Why it has halted until the server is restarted; nil if it has not halted.
  package var halted: ProjectionFault? { state.withLock { $0.halt } }
  /// Why it does not follow the log; nil while it does, even if queries fail.
  package var followingFault: ProjectionFault? { state.withLock { $0.followingFault } }

  package var status: ProjectionStatus {
    state.withLock { state in
      ProjectionStatus(
        name: P.name, position: state.filled, target: state.isReadable ? nil : state.readableFrom,
        fault: state.followingFault ?? state.readFault.current(at: .now))
    }
  }

  /// Returns when the read model has applied `position`, immediately if it already has.
  /// - Throws: `ProjectionBehind` after the timeout, if the task is cancelled, and if the projection fails, halts or is
  ///   stopped before it reaches the position.
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
      await withCheckedContinuation { self.enqueue(.task($0), ticket, position) }
    } onCancel: {
      self.giveUp(ticket, position, .cancelled)
    }
    try result.get()
  }

  /// Like `wait`, but blocks the calling thread.
  package func waitBlocking(
    for position: LogPosition, timeoutMilliseconds: Int = defaultTimeoutMilliseconds
  ) throws(ProjectionBehind) {
    let ticket = state.withLock { state in
      state.position >= position ? nil : state.waiters.ticket(for: position)
    }
    guard let ticket else { return }
    let thread = WaitingThread()
    enqueue(.thread(thread), ticket, position)
    thread.wait(milliseconds: timeoutMilliseconds)
    giveUp(ticket, position, .timedOut)
    try thread.result?.get()
  }

  /// Ends a pause in which the read model gathers events, unless it has applied `position`. Call it for several read models
  /// before waiting for the first, so that they work at the same time.
  package func hurry(to position: LogPosition) {
    if state.withLock({ $0.position < position }) { hurry.signal() }
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
    // A cancellation that happened before the waiter was added did not find it.
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

  /// Runs `body` in one snapshot, outside the cooperative thread pool.
  /// - Throws: `ProjectionBehind` while the file is being rebuilt or cannot be read, and any error of `body`.
  package func read<T: Sendable>(_ body: @escaping @Sendable (P.Queries) throws -> T) async throws -> T {
    while true {
      let (pool, hasReadFault) = try readablePool()
      do {
        let result = try await pool.read { database in try body(P.Queries(database)) }
        if hasReadFault { resolveReadFault() }
        return result
      } catch {
        // A rebuilt file has replaced this one, which was closed before the query began.
        if wasReplaced(pool) { continue }
        throw failure(of: pool, error)
      }
    }
  }

  /// Truncates the file's write-ahead log.
  /// - Returns: false if a reader prevented it, or if there is another file with the same rows.
  package func emptyWriteAheadLog() async throws -> Bool {
    guard !isReplacing else { return false }
    let (pool, _) = try readablePool()
    let isEmpty = try await pool.writeWithoutTransaction { try WALTruncation.empty($0) }
    return isEmpty && !isReplacing
  }

  /// Like `read`, but blocks the calling thread.
  package func readBlocking<T>(_ body: (P.Queries) throws -> T) throws -> T {
    while true {
      let (pool, hasReadFault) = try readablePool()
      do {
        let result = try pool.read { database in try body(P.Queries(database)) }
        if hasReadFault { resolveReadFault() }
        return result
      } catch {
        if wasReplaced(pool) { continue }
        throw failure(of: pool, error)
      }
    }
  }

  /// Whether another file can be read instead.
  private func wasReplaced(_ pool: DatabasePool) -> Bool {
    state.withLock { state in
      guard let current = state.pool, current !== pool else { return false }
      return state.damage == nil && state.isReadable
    }
  }

  /// The open file, and whether there is a read fault for a successful query to resolve.
  private func readablePool() throws(ProjectionBehind) -> (pool: DatabasePool, hasReadFault: Bool) {
    let result: Result<(pool: DatabasePool, hasReadFault: Bool), ProjectionBehind> = state.withLock { state in
      guard let pool = state.pool, state.damage == nil, state.isReadable else {
        return .failure(behind(state, state.readableFrom, state.reason ?? .failing))
      }
      return .success((pool: pool, hasReadFault: state.readFault.isUnresolved))
    }
    return try result.get()
  }

  /// The error to throw for a failed query. If the file is damaged, the thread is told to rebuild it. A temporary fault
  /// is logged, and reported in `status`.
  private func failure(of pool: DatabasePool, _ error: any Error) -> any Error {
    let isCurrent = state.withLock { $0.pool === pool }
    // The file was closed during the query.
    guard isCurrent else { return state.withLock { behind($0, $0.readableFrom, .failing) } }
    // GRDB interrupts the query when its task is cancelled: the client has disconnected, and the file is intact.
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

/// A thread that waits for a position. It is resumed once.
final class WaitingThread: Sendable {
  private let semaphore = TimedSemaphore()
  private let state = Mutex<Result<Void, ProjectionBehind>?>(nil)

  /// Nil until the thread is resumed.
  var result: Result<Void, ProjectionBehind>? { state.withLock { $0 } }

  func resume(returning result: Result<Void, ProjectionBehind>) {
    state.withLock { $0 = result }
    semaphore.signal()
  }

  /// Returns when the thread is resumed, or after the timeout.
  func wait(milliseconds: Int) {
    semaphore.wait(milliseconds: milliseconds)
  }
}

/// The status of a read model.
package struct ProjectionStatus: Sendable, Hashable {
  package let name: String
  /// The last event that it has applied.
  package let position: LogPosition
  /// While it is being rebuilt, the position from which it can be read.
  package let target: LogPosition?
  /// Why it does not follow the log, or why queries fail; nil if neither is the case.
  package let fault: ProjectionFault?

  package init(name: String, position: LogPosition, target: LogPosition?, fault: ProjectionFault?) {
    self.name = name
    self.position = position
    self.target = target
    self.fault = fault
  }

  /// Whether it can be read and follows the log: it is not being rebuilt, and it has no fault.
  package var isReadable: Bool { target == nil && fault == nil }
}
