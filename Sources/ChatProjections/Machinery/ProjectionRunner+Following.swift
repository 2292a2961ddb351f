import ChatDomain
package import ChatPrimitives
import Dispatch
import EventStore
import Foundation
import GRDB
import Logging
import Synchronization

/// The thread that applies events.
extension ProjectionRunner {
  /// The delay before a blocked step of upkeep is tried again, in milliseconds.
  private static var upkeepRetryMilliseconds: Int { 250 }

  /// Starts the thread that applies the feed's events, present and future.
  /// - Parameter onApplied: called on that thread after each transaction, with the position that readers now see.
  package func start(onApplied: @escaping @Sendable (LogPosition) -> Void = { _ in }) {
    let isFirst = state.withLock { state in
      defer { state.isStarted = true }
      return !state.isStarted && !state.isStopping
    }
    guard isFirst else { return }
    let thread = Thread {
      CurrentThread.setName("view-\(P.name)")
      self.follow(onApplied)
      self.refuseRebuiltFile()
      self.finished.signal()
    }
    thread.start()
  }

  /// Stops the thread, waits for its end and closes the file. A thread that waits for the feed's head ends when the
  /// feed wakes it. Some feeds do so only when they are closed, so close those first.
  package func stop() throws {
    let isStarted = state.withLock { state in
      state.isStopping = true
      return state.isStarted
    }
    for build in state.withLock({ [$0.rebuild, $0.filling] }) { build?.cancel() }
    hurry.signal()
    feed.wakeWaiters()
    if isStarted {
      finished.wait()
      finished.signal()
    }
    refuseRebuiltFile()
    background.wait()
    failWaiters(.stopped)
    let (pool, checkpoints) = state.withLock { ($0.pool, $0.checkpoints) }
    checkpoints?.close()
    try pool?.close()
  }

  // MARK: - Faults

  /// Follows the log until the runner is stopped or halts.
  private func follow(_ onApplied: (LogPosition) -> Void) {
    var plan = RecoveryPlan()
    while nextStart() != nil {
      do {
        takeRebuiltFile(onApplied)
        try fillNewFile(onApplied)
        if try followFile(&plan, onApplied) { return }
      } catch {
        // The stop has cancelled the filling of the file.
        guard nextStart() != nil else { return }
        let kind = ProjectionFault.Kind(following: error)
        let fault = fault(kind, error)
        switch plan.action(after: kind) {
        case .retry(let delay):
          note(fault, "a read model cannot be updated; the server tries again", delay)
          pause(delay)
        case .rebuild(let delay):
          note(fault, "the file of a read model is damaged; the server rebuilds it", delay)
          pause(delay)
          discard(fault)
        case .halt:
          return halt(fault)
        }
      }
    }
  }

  private func note(_ fault: ProjectionFault, _ what: Logger.Message, _ delay: Int) {
    state.withLock { $0.fault = fault }
    logger.warning(
      what,
      metadata: [
        "projection": "\(P.name)", "file": "\(opening.file.path)", "position": "\(fault.position)",
        "reason": "\(fault.message)", "advice": "\(fault.advice)", "againAfterMilliseconds": "\(delay)",
      ])
    failWaiters(.failing)
  }

  /// Waits this long, or until the runner is stopped.
  private func pause(_ milliseconds: Int) {
    let end = ContinuousClock.now + .milliseconds(milliseconds)
    while nextStart() != nil {
      let rest = (end - ContinuousClock.now) / .milliseconds(1)
      guard rest > 0 else { return }
      hurry.wait(milliseconds: Int(rest.rounded(.up)))
    }
  }

  private func halt(_ fault: ProjectionFault) {
    let halt = ProjectionFault(
      projection: fault.projection, file: fault.file, kind: .permanent, position: fault.position,
      message: fault.message, advice: ProjectionFault.Kind.permanent.advice(on: fault))
    state.withLock { $0.fault = halt }
    logger.critical(
      "a projection halted; it stays halted until the server is restarted",
      metadata: [
        "projection": "\(P.name)", "file": "\(opening.file.path)", "position": "\(halt.position)",
        "error": "\(halt.message)", "advice": "\(halt.advice)",
      ])
    failWaiters(.halted)
  }

  /// Closes a damaged file and moves it aside; the next step creates a new one. If the file cannot be moved, the next
  /// step detects the damage again.
  private func discard(_ fault: ProjectionFault) {
    let head = feed.head
    let (pool, checkpoints) = state.withLock { state in
      defer {
        state.pool = nil
        state.checkpoints = nil
        state.damage = nil
        state.readFault = ReadFault()
        state.readableFrom = head
      }
      return (state.pool, state.checkpoints)
    }
    checkpoints?.close()
    // Waits for the queries in flight.
    try? pool?.close()
    do {
      try opening.moveAside(because: fault.message)
    } catch {
      logger.error("a damaged file could not be moved aside", metadata: ["error": "\(error)"])
    }
  }

  /// Opens the file, or creates it.
  func openFile() throws {
    let head = feed.head
    let opened = try opening.open(head: head)
    state.withLock { state in
      state.pool = opened.pool
      state.checkpoints = opened.checkpoints
      state.position = opened.position
      if opened.isNew { state.readableFrom = head }
    }
  }

  /// Returns the open file after reading its position again: a transaction that reported an error may still have been
  /// committed.
  func openedFile() throws -> DatabasePool {
    if let damage = state.withLock({ $0.damage }) { throw damage }
    guard let pool = state.withLock({ $0.pool }) else {
      try openFile()
      return try openedFile()
    }
    let position = try pool.read(Checkpoint.read).position
    state.withLock { $0.position = position }
    return pool
  }

  /// Clears the fault after a step that succeeded.
  private func recovered(_ plan: inout RecoveryPlan) {
    plan.succeeded()
    let (isComplete, recovered): (Bool, ProjectionFault?) = state.withLock { state in
      let isComplete = state.damage == nil && state.isReadable
      // After damage, the fault stays until the rebuilt file can be read.
      guard isComplete || (state.damage == nil && state.fault?.kind == .temporary) else { return (false, nil) }
      defer { state.fault = nil }
      return (isComplete, state.fault)
    }
    // Applies to any fault, because a temporary fault may have replaced the damage.
    if isComplete { plan.caughtUp() }
    guard let recovered else { return }
    logger.notice(
      "a read model follows the log again",
      metadata: ["projection": "\(P.name)", "file": "\(opening.file.path)", "after": "\(recovered.message)"])
  }

  // MARK: - Following

  /// - Returns: false if there is a new file to take over; true if the thread should end.
  private func followFile(_ plan: inout RecoveryPlan, _ onApplied: (LogPosition) -> Void) throws -> Bool {
    let pool = try openedFile()
    var projection = P()
    var cache = WriterCache()
    var reader = LastReader()
    // The first step finds the rows that a stop or a crash left to be removed.
    var deletesRows = !P.bulkDeletedRows.isEmpty
    while let position = nextStart(), try keepUp(&projection, &deletesRows, at: position, pool) {
      if hasRebuiltFile() { return false }
      // While events are waiting, only a successful transaction shows that the file can be written again.
      if feed.head <= position { recovered(&plan) }
      guard feed.waitForHead(beyond: position, unless: isInterrupted) else {
        try throwIfDamaged()
        return !hasRebuiltFile()
      }
      // Before the checks, so that no later signal is lost. Who has waited so far gets everything from this transaction.
      if hurry.reset() { reader.note(at: .now) }
      try throwIfDamaged()
      let turn = try pool.write { database in
        try cache.fit(isBehind: lacks(Self.batchEvents, at: position), database)
        return try apply(after: position, with: &projection, to: database)
      }
      publish(turn.position)
      onApplied(turn.position)
      recovered(&plan)
      if !P.bulkDeletedRows.isEmpty, turn.leavesRowsToDelete { deletesRows = true }
      // Only one step after each batch, so that a reader waits for at most one step. The deletion still completes,
      // however busy the server is.
      if deletesRows { deletesRows = try clear(pool) } else if turn.isAll { gather(after: turn.position, &reader) }
    }
    return true
  }

  private func isInterrupted() -> Bool { state.withLock { $0.damage != nil || $0.isStopping || $0.rebuilt != nil } }

  private func throwIfDamaged() throws {
    if let damage = state.withLock({ $0.damage }) { throw damage }
  }

  /// What one transaction applied.
  struct Turn {
    var position: LogPosition
    /// Whether the transaction applied all events that were waiting when it started.
    var isAll = false
    var leavesRowsToDelete = false
  }

  /// Whether at least so many events are waiting.
  private func lacks(_ events: Int, at position: LogPosition) -> Bool {
    feed.head.distance(from: position) >= UInt64(clamping: events)
  }

  /// Call this within a transaction.
  func apply(after position: LogPosition, with projection: inout P, to database: Database) throws -> Turn {
    // Read first: events that become durable from now on do not belong to this turn.
    let head = feed.head
    let events = try waitingEvents(after: position)
    var turn = Turn(position: try ProjectionBatch.apply(events, after: position, with: &projection, to: database))
    turn.isAll = turn.position >= head
    turn.leavesRowsToDelete = events.contains(where: BulkDeletion.follows)
    return turn
  }

  /// The events for one transaction. If not all of them can be read, the first of them: those before the fault are applied,
  /// and the next transaction meets the fault again.
  private func waitingEvents(after position: LogPosition) throws -> [RecordedEvent] {
    if P.gathersLongerInBursts || lacks(Self.transactionEvents, at: position),
      let events = try? feed.events(after: position, limit: Self.transactionEvents)
    {
      return events
    }
    return try feed.events(after: position, limit: Self.batchEvents)
  }

  /// Does one step in its own transaction.
  /// - Returns: whether there may be more to do.
  private func clear(_ pool: DatabasePool) throws -> Bool {
    try pool.write { try BulkDeletion.step(P.bulkDeletedRows, $0) }
  }

  /// Removes rows of deleted rooms and workspaces and then does upkeep, until an event is waiting. The rows go first,
  /// because upkeep can only remove their content from the file once they are deleted.
  /// - Returns: true if all is done or events are waiting; false if the thread should end.
  private func keepUp(
    _ projection: inout P, _ deletesRows: inout Bool, at position: LogPosition, _ pool: DatabasePool
  ) throws -> Bool {
    while deletesRows, feed.head <= position {
      deletesRows = try clear(pool)
      if nextStart() == nil { return false }
      if hasRebuiltFile() { return true }
    }
    guard P.needsUpkeep, !deletesRows else { return true }
    while true {
      let isIdle = feed.head <= position
      switch try pool.writeWithoutTransaction({ try projection.upkeep($0, isIdle: isIdle) }) {
      case .done: return true
      case .more: if !isIdle { return true }
      case .blocked:
        if !isIdle { return true }
        hurry.wait(milliseconds: Self.upkeepRetryMilliseconds)
      }
      try throwIfDamaged()
      if nextStart() == nil { return false }
      if hasRebuiltFile() { return true }
    }
  }

  /// Waits briefly for more events: one transaction for many events costs a fraction of one for each.
  private func gather(after position: LogPosition, _ reader: inout LastReader) {
    var gathering = EventGathering(P.self, hasRecentReader: reader.isRecent(at: .now))
    repeat {
      // The signal of a stop may have been reset.
      guard nextStart() != nil else { return }
      if hurry.wait(milliseconds: gathering.delay) { return reader.note(at: .now) }
    } while gathering.goesOn(waiting: feed.head.distance(from: position))
  }

  /// Nil if the thread should end.
  private func nextStart() -> LogPosition? {
    state.withLock { $0.isStopping ? nil : $0.position }
  }

  func publish(_ position: LogPosition) {
    let ready = state.withLock { state in
      state.position = position
      return state.waiters.advance(to: position)
    }
    for waiter in ready { waiter.resume(returning: .success(())) }
  }
}
