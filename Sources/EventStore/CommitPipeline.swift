public import ChatDomain
public import ChatPrimitives
import DequeModule
public import EventLog
import Foundation
import Synchronization

/// One writer: commands in, durable answers out.
///
/// One thread takes what is queued, decides it, writes one block, syncs, and answers; meanwhile the next batch forms in
/// the queue. There is no timer, but a short patience: see `BatchGathering`. An answer without events of its own leaves
/// with the rest of its batch, after the sync, so nothing that is not durable shows.
///
/// Unchecked: `state` is touched only while `condition` is locked; `machine`, `lastTime`, `lastDecision`, `batch`,
/// `gathering` and `isNoted` by the writer's thread alone.
package final class CommitPipeline<Machine: DecisionMachine>: @unchecked Sendable {
  package typealias Completion = @Sendable (Result<Machine.Reply, CommitError>) -> Void

  /// Commands that wait to be decided. Beyond it a command is refused as overloaded.
  package static var queueLimit: Int { 16_384 }
  /// How long nothing must have been written before the log is told that it is idle, in milliseconds.
  private static var idleMilliseconds: Int { 50 }
  private static var stackBytes: Int { 4 * 1024 * 1024 }

  private let store: EventStore
  private let clock: @Sendable () -> Timestamp
  private let onPoison: @Sendable (String) -> Void
  private let condition = MonotonicCondition()
  private var state = State()
  /// Items that were ever queued: a look at it costs no lock.
  private let arrivals = Atomic<Int>(0)
  private var gathering = BatchGathering()
  private var machine: Machine
  private var batch: Batch
  /// Of the newest record.
  private var lastTime: Timestamp
  /// What the newest event was decided at.
  private var lastDecision: Timestamp
  /// The log knows that it is idle.
  private var isNoted = false
  private var lastWrite = ContinuousClock.now

  /// - Parameters:
  ///   - lastTime: The recorded time of the last record in the log: no later one is earlier.
  ///   - clock: a clock that may be behind the log's last time.
  ///   - onPoison: told once, with the reason, when the log accepts nothing more.
  package init(
    store: EventStore, machine: Machine, lastTime: Timestamp, clock: @escaping @Sendable () -> Timestamp,
    onPoison: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    self.store = store
    self.machine = machine
    self.lastTime = lastTime
    lastDecision = lastTime
    self.clock = clock
    self.onPoison = onPoison
    batch = Batch(first: store.head.next)
    let thread = Thread { [self] in
      // Named from within: only so does the system show the name too.
      Thread.current.name = "hansard-writer"
      run()
    }
    thread.stackSize = Self.stackBytes
    thread.start()
  }
}

// MARK: - For whoever has a command

extension CommitPipeline {
  /// Queues a command. `completion` is called once, on the writer's thread: it must not block.
  /// - Throws: `overloaded`, `closed` or `poisoned`; then `completion` is never called.
  package func submit(_ command: Machine.Command, completion: @escaping Completion) throws(CommitError) {
    let refusal: CommitError? = condition.withLock {
      if let reason = state.poison { return .poisoned(reason: reason) }
      if state.isClosing { return .closed }
      guard state.queue.count < Self.queueLimit else { return .overloaded }
      enqueue(.command(command, completion))
      return nil
    }
    if let refusal { throw refusal }
  }

  /// Decides a command, and answers when everything that the answer rests on is durable.
  package func submit(_ command: Machine.Command) async throws(CommitError) -> Machine.Reply {
    let result: Result<Machine.Reply, CommitError> = await withCheckedContinuation { continuation in
      do throws(CommitError) {
        try submit(command) { continuation.resume(returning: $0) }
      } catch {
        continuation.resume(returning: .failure(error))
      }
    }
    return try result.get()
  }

  /// Lets the writer change the machine between two commands, such as to forget what a projection now knows.
  package func maintain(_ body: @escaping @Sendable (inout Machine) -> Void) {
    condition.withLock {
      if !state.isClosing { enqueue(.maintenance(body)) }
    }
  }

  /// Only while `condition` is locked.
  private func enqueue(_ item: Item) {
    state.queue.append(item)
    arrivals.add(1, ordering: .relaxed)
    if state.isWaiting { condition.broadcast() }
  }

  /// Why nothing is written any more; nil while the log is healthy.
  package var poison: String? {
    condition.withLock { state.poison }
  }

  /// Whether `close` was called.
  package var isClosing: Bool {
    condition.withLock { state.isClosing }
  }

  /// Decides and writes what is queued, refuses everything later, and returns when the writer has ended.
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
    while let items = nextItems() {
      perform(items)
      gather()
      flush()
    }
    condition.withLock {
      state.hasEnded = true
      condition.broadcast()
    }
  }

  /// Waits for something to do, and tells the log when there is nothing for a while. Nil when all is done.
  private func nextItems() -> Deque<Item>? {
    while true {
      let (items, isOver): (Deque<Item>, Bool) = condition.withLock {
        state.isWaiting = true
        while state.queue.isEmpty, !state.isClosing {
          if isNoted {
            condition.wait()
          } else if !condition.wait(until: .init(millisecondsFromNow: Self.idleMilliseconds)) {
            break
          }
        }
        state.isWaiting = false
        defer { state.queue = [] }
        return (state.queue, state.isClosing)
      }
      if !items.isEmpty { return items }
      if isOver { return nil }
      noteIdle()
    }
  }

  private func perform(_ items: Deque<Item>) {
    for item in items {
      perform(item)
      if batch.block.rawBytes >= BlockBuilder.targetRawBytes { flush() }
    }
  }

  /// Takes in those who come a moment later, where they can be expected.
  private func gather() {
    let before = batch.answers.count
    let waits = before > 0 && gathering.isWorthwhile(for: before)
    while waits, gathering.isWorthwhile(for: batch.answers.count), let items = itemsWithinPatience() {
      perform(items)
    }
    if !batch.answers.isEmpty {
      gathering.note(count: batch.answers.count, waited: waits, gained: batch.answers.count > before)
    }
  }

  /// What comes before patience ends; nil when nothing does.
  private func itemsWithinPatience() -> Deque<Item>? {
    let start = ContinuousClock.now
    while true {
      let seen = arrivals.load(ordering: .relaxed)
      let items: Deque<Item> = condition.withLock {
        defer { state.queue = [] }
        return state.queue
      }
      if !items.isEmpty { return items }
      while arrivals.load(ordering: .relaxed) == seen {
        if ContinuousClock.now - start >= BatchGathering.patience { return nil }
      }
    }
  }

  private func perform(_ item: Item) {
    switch item {
    case .maintenance(let body): body(&machine)
    case .command(let command, let completion): decide(command, completion)
    }
  }

  /// The time for rules, and what events happen at. It waits at the newest event's while the clock is a little behind
  /// that, so that a clock that is corrected in small steps puts nothing out of order. Beyond that it follows the clock:
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
      // The machine has taken in what cannot be written, so it no longer tells the truth.
      poison(because: "an event could not be encoded: \(error)")
    }
    if !decision.events.isEmpty {
      lastTime = recordedTime
      lastDecision = now
      batch.events.append(contentsOf: decision.events)
    }
    batch.answers.append(Answer(reply: decision.reply, completion: completion))
  }

  /// Makes the batch durable, and answers.
  private func flush() {
    guard !batch.answers.isEmpty else { return }
    let settled = batch
    batch = Batch(first: settled.block.next)
    let failure = write(settled)
    for answer in settled.answers {
      answer.completion(failure.map { .failure($0) } ?? .success(answer.reply))
    }
    if !settled.block.isEmpty {
      isNoted = false
      lastWrite = .now
    } else if ContinuousClock.now - lastWrite >= .milliseconds(Self.idleMilliseconds) {
      // Answers that rest on nothing new keep this thread awake, but not the log.
      noteIdle()
    }
  }

  /// - Returns: why the batch did not become durable; nil when it did.
  private func write(_ batch: Batch) -> CommitError? {
    if let reason = poison { return .poisoned(reason: reason) }
    guard !batch.block.isEmpty else { return nil }
    do throws(LogError) {
      try store.commit(batch.block, batch.events)
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

// MARK: - What it holds

extension CommitPipeline {
  private enum Item {
    case command(Machine.Command, Completion)
    case maintenance(@Sendable (inout Machine) -> Void)
  }

  private struct Answer {
    let reply: Machine.Reply
    let completion: Completion
  }

  /// A block that forms, with the answers that wait for it.
  private struct Batch {
    var block: BlockBuilder
    var events: [RecordedEvent] = []
    var answers: [Answer] = []

    init(first: LogPosition) {
      block = BlockBuilder(first: first)
    }
  }

  private struct State {
    var queue: Deque<Item> = []
    var isWaiting = false
    var isClosing = false
    var hasEnded = false
    var poison: String?
  }
}
