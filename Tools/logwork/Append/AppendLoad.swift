import ChatDomain
import ChatPrimitives
import Dispatch
import EventLog
import EventLogSimulation
import EventStore
import Foundation
import Synchronization

/// Runs writers that each send a number of events at once, wait until all are durable, and send the next ones.
final class AppendLoad: Sendable {
  /// How the writers run.
  enum Kind: String, CaseIterable {
    /// Tasks on one thread, as on one event loop of the server.
    case loop
    /// Tasks on Swift's default thread pool.
    case pool
    /// One thread for each writer.
    case threads
  }

  /// A snapshot of the counters and clocks at one moment of the run.
  struct Mark {
    let nanoseconds = monotonicNanoseconds()
    let head: LogPosition
    let syncs: Int
    let processSeconds = ProcessorClock.process.seconds
    let writerSeconds: Double
  }

  private let store: CountedStore
  private let events: EventStore
  private let pipeline: CommitPipeline<SampleMachine>
  private let messages = SampleMessages()
  private let writers: Int
  private let outstanding: Int
  private let isOver = Atomic(false)
  private let writerClock = Mutex<ProcessorClock?>(nil)
  private let running = DispatchGroup()
  private let loop = LoopExecutor()

  init(_ log: EmbeddedLog, writers: Int, outstanding: Int) {
    self.writers = writers
    self.outstanding = outstanding
    store = CountedStore(log)
    events = EventStore(log: store)
    pipeline = CommitPipeline(
      store: events, machine: SampleMachine(authors: (0..<writers).map(SampleAuthor.init)), lastTime: log.lastTime,
      clock: LogOptions.systemTime)
  }

  /// Registers the authors, so that their messages have salts, and starts the writers.
  func start(_ kind: Kind) throws {
    pipeline.maintain { [self] _ in
      let clock = ProcessorClock.ofCallingThread()
      writerClock.withLock { $0 = clock }
    }
    let registered = DispatchGroup()
    for author in 0..<writers {
      registered.enter()
      try pipeline.submit(.register(author: author)) { _ in registered.leave() }
    }
    registered.wait()
    for writer in 0..<writers {
      running.enter()
      switch kind {
      case .loop:
        Task(executorPreference: loop) { [self] in
          await write(as: writer)
          running.leave()
        }
      case .pool:
        Task { [self] in
          await write(as: writer)
          running.leave()
        }
      case .threads:
        let thread = Thread { [self] in
          writeBlocking(as: writer)
          running.leave()
        }
        thread.stackSize = 256 * 1024
        thread.start()
      }
    }
  }

  func mark() -> Mark {
    Mark(head: store.head, syncs: store.syncs, writerSeconds: writerClock.withLock { $0?.seconds } ?? 0)
  }

  /// Stops the writers after their pending events are done, and closes the log.
  func stop() throws {
    isOver.store(true, ordering: .relaxed)
    running.wait()
    loop.stop()
    pipeline.close()
    events.close()
    try store.close()
  }

  // MARK: Writers

  private func write(as writer: Int) async {
    var random = SeededRandom(seed: UInt64(writer))
    while !isOver.load(ordering: .relaxed) {
      await withCheckedContinuation { continuation in
        submit(as: writer, &random) { continuation.resume() }
      }
    }
  }

  private func writeBlocking(as writer: Int) {
    var random = SeededRandom(seed: UInt64(writer))
    let done = DispatchSemaphore(value: 0)
    while !isOver.load(ordering: .relaxed) {
      submit(as: writer, &random) { done.signal() }
      done.wait()
    }
  }

  private func submit(as writer: Int, _ random: inout SeededRandom, whenDone: @escaping @Sendable () -> Void) {
    let pending = PendingReplies(commands: outstanding, whenDone: whenDone)
    let completion: CommitPipeline<SampleMachine>.Completion = { pending.take($0) }
    for _ in 0..<outstanding {
      let message = UUIDBytes(high: random.next(), low: random.next())
      do throws(CommitError) {
        try pipeline.submit(
          .send(author: writer, message: message, text: messages[message.low]), completion: completion)
      } catch {
        completion(.failure(error))
      }
    }
  }
}
