import ChatDomain
import ChatPrimitives
import EventStore
import Foundation
import Synchronization

/// Reads and decodes the log once, and gives each batch of events to several readers, each on its own thread.
///
/// Each reader has a bounded queue. One batch is read ahead, and is added when every queue has room for it. So the batches
/// in memory are those in the longest queue, those that its reader applies, and the one that is read ahead. A batch that
/// comes from the disk has at most 16 MiB of events (`BlockSource.decodedEvents`).
///
/// Unchecked: all variables are only accessed while `condition` is locked.
final class SharedScan: @unchecked Sendable {
  /// The approximate number of events in a batch.
  static let batchEvents = 8192
  /// The maximum number of batches in a queue, unless its reader joins more.
  static let queueCapacity = 2
  /// How long the calling thread waits at most before it reports progress again, in milliseconds.
  private static let progressMilliseconds = 200

  /// What one reader does, on its own thread.
  struct Work: Sendable {
    /// What the system shows, such as in `top -H`; at most 15 bytes.
    var thread: String
    /// How many batches it gets as one. Its queue has room for as many, so that the others need not wait while it applies
    /// them.
    var joinedBatches = 1
    /// Must call `begin(through:)` before `next()`.
    var body: @Sendable (Reader) throws -> Void
  }

  /// One reader's side of the scan.
  struct Reader: EventBatches {
    fileprivate let scan: SharedScan
    fileprivate let index: Int

    /// Sets the last position that this reader needs. The scan begins when every reader has set it.
    func begin(through end: LogPosition) throws { try scan.begin(index, through: end) }

    func next() throws -> [RecordedEvent]? { try scan.next(index) }
  }

  /// Another thread has failed, so this one ends too. `run` throws the first failure, never this error.
  private struct Stopped: Error {}

  private struct ReaderState {
    /// The last position that the reader needs. Nil until it has called `begin`.
    var end: LogPosition?
    var waiting: [[RecordedEvent]] = []
    let joinedBatches: Int
    /// The last position that was put into `waiting`.
    var given = LogPosition.origin
    /// The last position of the batch that the reader works on.
    var taken = LogPosition.origin
    /// The last position that the reader has finished.
    var done = LogPosition.origin
    var isFinished = false

    var hasRoom: Bool { waiting.count < max(SharedScan.queueCapacity, joinedBatches) }
    /// Whether more batches will come, and are to be joined with those that wait.
    var waitsForMore: Bool { waiting.count < joinedBatches && end.map { given < $0 } ?? false }

    /// Takes the batches that the reader gets as one; nil if there are none.
    mutating func takeBatches() -> ArraySlice<[RecordedEvent]>? {
      guard !waiting.isEmpty else { return nil }
      let batches = waiting.prefix(joinedBatches)
      waiting.removeFirst(batches.count)
      taken = batches.last?.last?.position ?? taken
      return batches
    }
  }

  private let condition = MonotonicCondition()
  private var readers: [ReaderState]
  private var failure: (any Error)?

  private init(_ works: [Work]) {
    readers = works.map { ReaderState(joinedBatches: $0.joinedBatches) }
  }

  /// Runs each `Work` on its own thread, and returns when all of them have ended.
  /// - Parameters:
  ///   - isCancelled: if it returns true, the scan ends with a `CancellationError`. Called at least five times a second.
  ///   - progress: called on the calling thread with the last position that every reader has finished, and the last one
  ///     that any of them needs.
  /// - Throws: the first failure of a reader or of the feed. Then all readers end.
  static func run(
    _ works: [Work], over feed: any EventFeed, isCancelled: @Sendable () -> Bool = { false },
    progress: (_ done: LogPosition, _ total: LogPosition) -> Void
  ) throws {
    let scan = SharedScan(works)
    for (index, work) in works.enumerated() {
      let reader = Reader(scan: scan, index: index)
      let thread = Thread {
        Thread.current.name = work.thread
        do {
          try work.body(reader)
          scan.finish(index)
        } catch {
          scan.finish(index, error)
        }
      }
      thread.start()
    }
    scan.read(feed, isCancelled, progress)
    if let failure = scan.condition.withLock({ scan.failure }) { throw failure }
  }

  // MARK: - The readers' threads

  private func begin(_ index: Int, through end: LogPosition) throws {
    try condition.withLock {
      if failure != nil { throw Stopped() }
      readers[index].end = end
      condition.broadcast()
    }
  }

  private func next(_ index: Int) throws -> [RecordedEvent]? {
    let batches = try condition.withLock {
      readers[index].done = readers[index].taken
      condition.broadcast()
      while failure == nil, readers[index].waitsForMore { condition.wait() }
      if failure != nil { throw Stopped() }
      defer { condition.broadcast() }
      return readers[index].takeBatches()
    }
    guard let batches, batches.count > 1 else { return batches?.first }
    return batches.flatMap { $0 }
  }

  private func finish(_ index: Int, _ error: (any Error)? = nil) {
    condition.withLock {
      readers[index].isFinished = true
      readers[index].waiting = []
      if failure == nil, let error { failure = error }
      condition.broadcast()
    }
  }

  // MARK: - The calling thread

  /// Returns when all readers have ended.
  private func read(
    _ feed: any EventFeed, _ isCancelled: @Sendable () -> Bool, _ progress: (LogPosition, LogPosition) -> Void
  ) {
    do {
      try giveAll(of: feed, isCancelled, progress)
      try wait(isCancelled, progress) { allHaveFinished }
    } catch {
      condition.withLock {
        if failure == nil { failure = error }
        condition.broadcast()
      }
    }
    // Also after a failure: until they end, the threads use their files.
    condition.withLock {
      while !allHaveFinished { condition.wait() }
    }
    report(progress)
  }

  /// Reads the feed up to the last position that any reader needs.
  private func giveAll(
    of feed: any EventFeed, _ isCancelled: @Sendable () -> Bool, _ progress: (LogPosition, LogPosition) -> Void
  ) throws {
    try wait(isCancelled, progress) { readers.allSatisfy { $0.end != nil || $0.isFinished } }
    let end = condition.withLock { total }
    var position = LogPosition.origin
    while position < end {
      let events = try feed.events(after: position, limit: Self.batchEvents)
      guard let last = events.last else { throw ProjectionError.gap(after: position) }
      position = last.position
      try wait(isCancelled, progress) { readers.allSatisfy(\.hasRoom) }
      give(events)
    }
  }

  /// Adds a batch to the queue of each reader that needs it.
  private func give(_ events: [RecordedEvent]) {
    condition.withLock {
      for index in readers.indices {
        guard !readers[index].isFinished, let end = readers[index].end, readers[index].given < end else { continue }
        let batch = events.through(end)
        readers[index].waiting.append(batch)
        readers[index].given = batch.last?.position ?? readers[index].given
      }
      condition.broadcast()
    }
  }

  /// Waits until `isMet`, which is called while the lock is held, and reports progress meanwhile.
  /// - Throws: `Stopped` if a reader has failed; `CancellationError` if `isCancelled`.
  private func wait(
    _ isCancelled: @Sendable () -> Bool, _ progress: (LogPosition, LogPosition) -> Void, until isMet: () -> Bool
  ) throws {
    while true {
      let deadline = MonotonicCondition.Deadline(millisecondsFromNow: Self.progressMilliseconds)
      let isOver = try condition.withLock {
        while !isMet() {
          if failure != nil { throw Stopped() }
          guard condition.wait(until: deadline) else { return false }
        }
        return true
      }
      if isCancelled() { throw CancellationError() }
      report(progress)
      if isOver { return }
    }
  }

  private func report(_ progress: (LogPosition, LogPosition) -> Void) {
    let (done, end): (LogPosition, LogPosition) = condition.withLock {
      let end = total
      // A reader that needs less than the others is complete at its end.
      let done = readers.map { $0.isFinished || $0.done >= $0.end ?? .origin ? end : $0.done }.min() ?? .origin
      return (done, end)
    }
    progress(done, end)
  }

  // MARK: - While `condition` is locked

  /// The last position that any reader needs.
  private var total: LogPosition { readers.compactMap(\.end).max() ?? .origin }

  private var allHaveFinished: Bool { readers.allSatisfy(\.isFinished) }
}
