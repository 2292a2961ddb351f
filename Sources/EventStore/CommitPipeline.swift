public import ChatDomain
public import ChatPrimitives
import DequeModule
public import EventLog
import Foundation
import Synchronization

/// The single writer of the log: takes commands and returns replies when everything behind them is durable.
///
/// One thread takes the queued commands, decides them, writes one block, syncs it and replies. Meanwhile the next batch
/// forms in the queue. There is no timer, only a short wait: see `BatchGathering`. A reply without events of its own is
/// also sent after the sync of its batch, so it never shows anything that is not durable.
///
/// Unchecked: `state` is accessed only while `condition` is locked; `machine`, `lastTime`, `lastDecision`, `taken`, `batch`,
/// `gathering` and `isNoted` only by the writer's thread.
package final class CommitPipeline<Machine: DecisionMachine>: @unchecked Sendable {
  package typealias Completion = @Sendable (Result<Machine.Reply, CommitError>) -> Void

  /// The maximum number of commands in the queue. Further commands are rejected as overloaded.
  package static var queueLimit: Int { 16_384 }
  /// How long nothing must have been written before the log is told that it is idle, in milliseconds.
  private static var idleMilliseconds: Int { 50 }
  private static var stackBytes: Int { 4 * 1024 * 1024 }
  /// How many items the memory of an empty queue is kept for.
  private static var keptItems: Int { 1_024 }

  private let store: EventStore
  private let clock: @Sendable () -> Timestamp
  private let onPoison: @Sendable (String) -> Void
  private let metrics: CommitMetrics
  private let condition = MonotonicCondition()
  private var state = State()
  /// The number of items that were ever queued. Reading it needs no lock.
  private let arrivals = Atomic<Int>(0)
  private var gathering = BatchGathering()
  /// The items that were taken from the queue. Usually keeps its memory, which the queue gets in exchange.
  private var taken: Deque<Item> = []
  private var machine: Machine
  private var batch: Batch
  /// The recorded time of the newest record.
  private var lastTime: Timestamp
  /// The decision time of the newest event.
  private var lastDecision: Timestamp
  /// Whether the log was told that it is idle.
  private var isNoted = false
  private var lastWrite = ContinuousClock.now

  /// - Parameters:
  ///   - lastTime: the recorded time of the last record in the log. No later record is earlier.
  ///   - clock: a clock, which may be behind the log's last time.
  ///   - onPoison: called once, with the reason, when the log accepts nothing more.
  package init(
    store: EventStore, machine: Machine, lastTime: Timestamp, metrics: CommitMetrics = CommitMetrics(),
    clock: @escaping @Sendable () -> Timestamp,
    onPoison: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    self.store = store
    self.machine = machine
    self.lastTime = lastTime
    lastDecision = lastTime
    self.clock = clock
    self.metrics = metrics
    self.onPoison = onPoison
    batch = Batch(first: store.head.next)
    let thread = Thread { [self] in
      CurrentThread.setName("hansard-writer")
      run()
    }
    thread.stackSize = Self.stackBytes
    thread.start()
  }
}

// MARK: - Submitting commands

extension CommitPipeline {
  /// Queues a command. `completion` is called once, on the writer's thread, and must not block.
  /// - Throws: `overloaded`, `closed` or `poisoned`. In these cases `completion` is never called.
  package func submit(_ command: Machine.Command, completion: @escaping Completion) throws(CommitError) {
    let mustWake: Result<Bool, CommitError> = condition.withLock {
      if let reason = state.poison { return .failure(.poisoned(reason: reason)) }
      if state.isClosing { return .failure(.closed) }
      guard state.queue.count < Self.queueLimit else { return .failure(.overloaded) }
      return .success(enqueue(.command(command, completion)))
    }
    if try mustWake.get() { condition.broadcast() }
  }

  /// Decides a command, and returns when everything on which the reply is based is durable.
  /// - Parameter queued: called once the command is in the queue: it is decided before every command that is queued later.
  package func submit(
    _ command: Machine.Command, queued: () -> Void = {}
  ) async throws(CommitError) -> Machine.Reply {
    let result: Result<Machine.Reply, CommitError> = await withCheckedContinuation { continuation in
      do throws(CommitError) {
        try submit(command) { continuation.resume(returning: $0) }
        queued()
      } catch {
        continuation.resume(returning: .failure(error))
      }
    }
    return try result.get()
  }

  /// Calls `body` on the writer's thread, after all completions of a batch were called. It must not block. It replaces the
  /// body of an earlier call.
  package func whenReplied(_ body: @escaping @Sendable () -> Void) {
    condition.withLock { state.onReplied = body }
  }

  /// Lets the writer change the machine between two commands, for example to drop what a projection now has.
  package func maintain(_ body: @escaping @Sendable (inout Machine) -> Void) {
    let mustWake = condition.withLock { state.isClosing ? false : enqueue(.maintenance(body)) }
    if mustWake { condition.broadcast() }
  }

  /// Call it only while `condition` is locked.
  /// - Returns: whether the writer sleeps. Then wake it once the lock is released, because it needs the lock first.
  private func enqueue(_ item: Item) -> Bool {
    state.queue.append(item)
    arrivals.add(1, ordering: .relaxed)
    defer { state.isWaiting = false }
    return state.isWaiting
  }

  /// The reason why nothing is written any more; nil while the log is healthy.
  package var poison: String? {
    condition.withLock { state.poison }
  }

  /// The number of commands that wait for the writer.
  package var queueCount: Int {
    condition.withLock { state.queue.count }
  }

  /// Whether `close` was called.
  package var isClosing: Bool {
    condition.withLock { state.isClosing }
  }

  /// Decides and writes the queued commands, rejects later ones, and returns when the writer's thread has ended.
  package func close() {
    condition.withLock {
      state.isClosing = true
      condition.broadcast()
      while !state.hasEnded { condition.wait() }
    }
  }
}

// MARK: - The writer's thread

extension CommitPipeline {
  private func run() {
    while takeNextItems() {
      performTaken()
      gather()
      flush()
    }
    condition.withLock {
      state.hasEnded = true
      condition.broadcast()
    }
  }

  /// Waits for queued items, and tells the log when it has been idle for a while.
  /// - Returns: false when everything is done.
  private func takeNextItems() -> Bool {
    while true {
      let isOver: Bool = condition.withLock {
        state.isWaiting = true
        while state.queue.isEmpty, !state.isClosing {
          if isNoted {
            condition.wait()
          } else if !condition.wait(until: .init(millisecondsFromNow: Self.idleMilliseconds)) {
            break
          }
        }
        state.isWaiting = false
        swap(&taken, &state.queue)
        return state.isClosing
      }
      if !taken.isEmpty { return true }
      if isOver { return false }
      noteIdle()
    }
  }

  private func performTaken() {
    let isLarge = taken.count > Self.keptItems
    while let item = taken.popFirst() {
      perform(item)
      if batch.block.rawBytes >= BlockBuilder.targetRawBytes { flush() }
    }
    if isLarge { taken = [] }
  }

  /// Adds commands that arrive a moment later, if they can be expected.
  private func gather() {
    let before = batch.replies.count
    let waits = before > 0 && gathering.isWorthwhile(for: before)
    while waits, gathering.isWorthwhile(for: batch.replies.count), takeItemsWithinMaximumWait() { performTaken() }
    if !batch.replies.isEmpty {
      gathering.note(count: batch.replies.count, waited: waits, gained: batch.replies.count > before)
    }
  }

  /// Waits for further items.
  /// - Returns: false if none arrive within `BatchGathering.maximumWait`.
  private func takeItemsWithinMaximumWait() -> Bool {
    let start = ContinuousClock.now
    while true {
      let seen = arrivals.load(ordering: .relaxed)
      condition.withLock { swap(&taken, &state.queue) }
      if !taken.isEmpty { return true }
      while arrivals.load(ordering: .relaxed) == seen {
        if ContinuousClock.now - start >= BatchGathering.maximumWait { return false }
      }
    }
  }

  private func perform(_ item: Item) {
    switch item {
    case .maintenance(let body): body(&machine)
    case .command(let command, let completion): decide(command, completion)
    }
  }

  /// The time for rules and for new events. While the clock is only a little behind the newest event, this is the time
  /// of that event, so that small corrections of the clock put nothing out of order. Beyond that it follows the clock:
  /// a wrong time in the log must not become the time of every later decision.
  private func decisionTime() -> Timestamp {
    let now = clock()
    let isLittleBehind = now < lastDecision && lastDecision <= now.adding(milliseconds: Limits.clockStepMilliseconds)
    return isLittleBehind ? lastDecision : now
  }

  private func decide(_ command: Machine.Command, _ completion: @escaping Completion) {
    let now = decisionTime()
    let recordedTime = max(now, lastTime)
    let decision = machine.decide(command, next: batch.block.next, now: now)
    do {
      for event in decision.events {
        let (envelope, payload) = try EventCodec.encode(event, recordedTime: recordedTime)
        try batch.block.append(envelope, payload: payload)
      }
    } catch {
      // The machine already includes events that cannot be written, so its state is no longer correct.
      poison(because: "an event could not be encoded: \(error)")
    }
    if !decision.events.isEmpty {
      lastTime = recordedTime
      lastDecision = now
      batch.events.append(contentsOf: decision.events)
    }
    batch.replies.append(PendingReply(reply: decision.reply, completion: completion))
  }

  /// Makes the batch durable, and sends the replies.
  private func flush() {
    guard !batch.replies.isEmpty else { return }
    let finishedBatch = batch
    batch = Batch(after: finishedBatch)
    metrics.began(commands: finishedBatch.replies.count)
    let failure = write(finishedBatch)
    for pending in finishedBatch.replies {
      pending.completion(failure.map { .failure($0) } ?? .success(pending.reply))
    }
    condition.withLock { state.onReplied }?()
    if !finishedBatch.block.isEmpty {
      isNoted = false
      lastWrite = .now
    } else if ContinuousClock.now - lastWrite >= .milliseconds(Self.idleMilliseconds) {
      // Replies without new events keep this thread awake, but the log is idle.
      noteIdle()
    }
  }

  /// - Returns: the reason why the batch did not become durable; nil if it did.
  private func write(_ batch: Batch) -> CommitError? {
    if let reason = poison { return .poisoned(reason: reason) }
    guard !batch.block.isEmpty else { return nil }
    do throws(LogError) {
      let start = ContinuousClock.now
      try store.commit(batch.block, batch.events)
      metrics.committed(bytes: batch.block.rawBytes, since: start)
      return nil
    } catch {
      let reason = String(describing: error)
      poison(because: reason)
      return .poisoned(reason: reason)
    }
  }

  private func noteIdle() {
    guard !isNoted else { return }
    isNoted = true
    guard poison == nil else { return }
    do throws(LogError) {
      try store.log.noteIdle()
    } catch {
      poison(because: String(describing: error))
    }
  }

  private func poison(because reason: String) {
    let isFirst = condition.withLock {
      defer { state.poison = state.poison ?? reason }
      return state.poison == nil
    }
    if isFirst { onPoison(reason) }
  }
}

// MARK: - State

extension CommitPipeline {
  private enum Item {
    case command(Machine.Command, Completion)
    case maintenance(@Sendable (inout Machine) -> Void)
  }

  private struct PendingReply {
    let reply: Machine.Reply
    let completion: Completion
  }

  /// A block under construction, and the replies that wait for it.
  private struct Batch {
    var block: BlockBuilder
    var events: [RecordedEvent] = []
    var replies: [PendingReply] = []

    init(first: LogPosition) {
      block = BlockBuilder(first: first)
    }

    /// A batch that is probably about as long as the one before it.
    init(after last: Batch) {
      block = BlockBuilder(after: last.block)
      events.reserveCapacity(last.events.count)
      replies.reserveCapacity(last.replies.count)
    }
  }

  private struct State {
    var queue: Deque<Item> = []
    /// Whether the writer sleeps, and nobody has begun to wake it.
    var isWaiting = false
    var isClosing = false
    var hasEnded = false
    var poison: String?
    /// Called after the completions of a batch.
    var onReplied: (@Sendable () -> Void)?
  }
}
