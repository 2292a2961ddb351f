public import ChatDomain
public import ChatPrimitives
import DequeModule
public import EventLog
import Foundation

/// One writer: commands in, durable answers out.
///
/// Two threads. The first decides: it takes what is queued and collects facts in an open block. The second syncs: it
/// writes one block at a time and then lets its answers go. While it syncs, the next block forms; there is no timer.
/// An answer without facts of its own leaves with the block that was open or under way when it was decided, so that
/// nothing that is not durable shows.
///
/// Unchecked: `state` is touched only while `condition` is locked, `machine`, `clock` and the open batch by the deciding
/// thread alone, `isNoted` by the syncing one.
package final class CommitPipeline<Machine: DecisionMachine>: @unchecked Sendable {
  package typealias Completion = @Sendable (Result<Machine.Reply, CommitError>) -> Void

  /// Commands that wait to be decided. Beyond it a command is refused as overloaded.
  package static var queueLimit: Int { 16_384 }
  /// Commands decided between two looks at whether the disk is free.
  private static var decisionsPerTurn: Int { 256 }
  /// How long nothing must have been written before the log is told that it is idle, in seconds.
  private static var idleSeconds: TimeInterval { 0.05 }

  private let store: EventStore
  private let clock: @Sendable () -> Timestamp
  private let condition = NSCondition()
  private var state = State()
  private var machine: Machine
  private var open: Batch
  private var lastTime: Timestamp
  /// The log knows that it is idle. Touched by the syncing thread alone.
  private var isNoted = false

  /// - Parameter lastTime: The time of the last record in the log: no later one is earlier.
  package init(
    store: EventStore, machine: Machine, lastTime: Timestamp, clock: @escaping @Sendable () -> Timestamp
  ) {
    self.store = store
    self.machine = machine
    self.lastTime = lastTime
    self.clock = clock
    open = Batch(first: store.head.next)
    start("hansard-decide") { $0.decideUntilClosed() }
    start("hansard-sync") { $0.syncUntilClosed() }
  }

  private func start(_ name: String, _ body: @escaping @Sendable (CommitPipeline) -> Void) {
    let thread = Thread { [self] in
      // Named from within: only so does the system show the name too.
      Thread.current.name = name
      body(self)
      condition.withLock {
        state.runningThreads -= 1
        condition.broadcast()
      }
    }
    thread.stackSize = 4 * 1024 * 1024
    condition.withLock { state.runningThreads += 1 }
    thread.start()
  }
}

// MARK: - For whoever has a command

extension CommitPipeline {
  /// Queues a command. `completion` is called once, on a thread of the pipeline: it must not block.
  /// - Throws: `overloaded`, `closed` or `poisoned`; then `completion` is never called.
  package func submit(_ command: Machine.Command, completion: @escaping Completion) throws(CommitError) {
    let refusal: CommitError? = condition.withLock {
      if let reason = state.poison { return .poisoned(reason: reason) }
      if state.isClosing { return .closed }
      guard state.queue.count < Self.queueLimit else { return .overloaded }
      state.queue.append(.command(command, completion))
      if state.deciderWaits { condition.broadcast() }
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

  /// Lets the deciding thread change the machine between two commands, such as to forget what a projection now knows.
  package func maintain(_ body: @escaping @Sendable (inout Machine) -> Void) {
    condition.withLock {
      guard !state.isClosing else { return }
      state.queue.append(.maintenance(body))
      if state.deciderWaits { condition.broadcast() }
    }
  }

  /// Why nothing is written any more; nil while the log is healthy.
  package var poison: String? {
    condition.withLock { state.poison }
  }

  /// Decides and writes what is queued, refuses everything later, and returns when both threads have ended.
  package func close() {
    condition.withLock {
      state.isClosing = true
      condition.broadcast()
      while state.runningThreads > 0 { condition.wait() }
    }
  }
}

// MARK: - The deciding thread

extension CommitPipeline {
  private func decideUntilClosed() {
    while let items = nextItems() {
      for item in items { perform(item) }
      handOver()
    }
    condition.withLock {
      state.isDecided = true
      condition.broadcast()
    }
  }

  /// Waits for something to do: items, or an open block and a free disk. Nil when all is done.
  private func nextItems() -> [Item]? {
    condition.withLock {
      while true {
        let canHandOver = state.handedOver == nil && !state.isSyncing
        if !state.queue.isEmpty, canHandOver || !open.isFull {
          let taken = Array(state.queue.prefix(Self.decisionsPerTurn))
          state.queue.removeFirst(taken.count)
          return taken
        }
        if !open.isEmpty, canHandOver { return [] }
        if state.isClosing, state.queue.isEmpty, open.isEmpty { return nil }
        state.deciderWaits = true
        condition.wait()
        state.deciderWaits = false
      }
    }
  }

  private func perform(_ item: Item) {
    switch item {
    case .maintenance(let body): body(&machine)
    case .command(let command, let completion): decide(command, completion)
    }
  }

  private func decide(_ command: Machine.Command, _ completion: @escaping Completion) {
    if let reason = poison {
      completion(.failure(.poisoned(reason: reason)))
      return
    }
    if open.isFull { waitToHandOver() }
    let now = max(clock(), lastTime)
    let decision = machine.decide(command, next: open.block.next, now: now)
    do {
      for event in decision.events {
        let (envelope, payload) = try EventCodec.encode(event)
        try open.block.append(envelope, payload: payload)
      }
    } catch {
      // The machine has taken in what cannot be written: it no longer tells the truth.
      poison(because: "an event could not be encoded: \(error)")
      completion(.failure(.poisoned(reason: "an event could not be encoded: \(error)")))
      return
    }
    if !decision.events.isEmpty {
      lastTime = now
      open.events.append(contentsOf: decision.events)
    }
    let reply = decision.reply
    open.completions.append { failure in completion(failure.map { .failure($0) } ?? .success(reply)) }
  }

  /// Gives the open block to the syncing thread when that is free.
  private func handOver() {
    condition.withLock {
      guard !open.isEmpty, state.handedOver == nil, !state.isSyncing else { return }
      closeBlock()
    }
  }

  /// The open block is full: waits until the disk is free and gives it away.
  private func waitToHandOver() {
    condition.withLock {
      state.deciderWaits = true
      while state.handedOver != nil || state.isSyncing { condition.wait() }
      state.deciderWaits = false
      closeBlock()
    }
  }

  /// Only while `condition` is locked.
  private func closeBlock() {
    state.handedOver = open
    open = Batch(first: open.block.next)
    condition.broadcast()
  }
}

// MARK: - The syncing thread

extension CommitPipeline {
  private func syncUntilClosed() {
    while let batch = nextBatch() {
      let failure = write(batch)
      // Answers that rest on nothing new keep this thread awake, but not the log.
      if batch.block.isEmpty { noteIdle() } else { isNoted = false }
      condition.withLock {
        state.isSyncing = false
        if state.deciderWaits { condition.broadcast() }
      }
      for completion in batch.completions { completion(failure) }
    }
  }

  private func nextBatch() -> Batch? {
    var mayBecomeIdle = true
    while true {
      let next: Batch? = condition.withLock {
        while true {
          if let batch = state.handedOver {
            state.handedOver = nil
            state.isSyncing = true
            return batch
          }
          if state.isDecided { return nil }
          if mayBecomeIdle {
            if !condition.wait(until: Date(timeIntervalSinceNow: Self.idleSeconds)), state.handedOver == nil {
              return nil
            }
          } else {
            condition.wait()
          }
        }
      }
      if let next { return next }
      if condition.withLock({ state.isDecided && state.handedOver == nil }) { return nil }
      mayBecomeIdle = false
      noteIdle()
    }
  }

  private func noteIdle() {
    guard !isNoted, poison == nil else { return }
    do throws(LogError) {
      try store.log.noteIdle()
      isNoted = true
    } catch {
      poison(because: String(describing: error))
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

  private func poison(because reason: String) {
    condition.withLock {
      if state.poison == nil { state.poison = reason }
    }
  }
}

// MARK: - What the threads share

extension CommitPipeline {
  private enum Item {
    case command(Machine.Command, Completion)
    case maintenance(@Sendable (inout Machine) -> Void)
  }

  /// A block that forms, with the answers that wait for it.
  private struct Batch {
    var block: BlockBuilder
    var events: [RecordedEvent] = []
    var completions: [@Sendable (CommitError?) -> Void] = []

    init(first: LogPosition) {
      block = BlockBuilder(first: first)
    }

    var isEmpty: Bool { completions.isEmpty }
    var isFull: Bool { block.rawBytes >= BlockBuilder.targetRawBytes }
  }

  private struct State {
    var queue: Deque<Item> = []
    var handedOver: Batch?
    var isSyncing = false
    var deciderWaits = false
    var isClosing = false
    /// The deciding thread has ended; nothing more will be handed over.
    var isDecided = false
    var poison: String?
    var runningThreads = 0
  }
}
