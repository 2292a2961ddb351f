import ChatDomain
package import ChatPrimitives
import ChatProjections
import Dispatch
import EventStore
import Foundation
import Logging
import Synchronization

/// Tells streams when to read. It follows the log on its own thread. When the read models have applied new events, it wakes
/// the streams of the users whom they concern, which then read like any catch-up. If only messages concern a user, the
/// streams get a `LivePage` and need not read.
///
/// Neither the writer nor a read model waits for it.
package final class LiveFeed: Sendable {
  let store: EventStore
  let readModels: ReadModels
  let gate: SessionGate
  let digests: CursorDigests
  let logger: Logger
  /// The time at which access tokens expire.
  let now: @Sendable () -> Timestamp
  private let registry = Mutex(LiveRegistry())
  private let thread = Mutex(ThreadState.idle)
  /// Signalled when the thread has ended. Each waiter signals it again for the next.
  private let finished = DispatchSemaphore(value: 0)

  private enum ThreadState {
    case idle
    case running
    case stopping
  }

  init(
    store: EventStore, readModels: ReadModels, gate: SessionGate, logger: Logger,
    now: @escaping @Sendable () -> Timestamp
  ) {
    self.store = store
    self.readModels = readModels
    self.gate = gate
    digests = CursorDigests(store.log)
    self.logger = logger
    self.now = now
  }

  /// The number of open streams.
  package var streamCount: Int { registry.withLock { $0.count } }

  // MARK: - Subscriptions

  /// Opens a stream. Subscribe before the first read.
  package func subscribe(_ permission: LivePermission) throws(StreamRefusal) -> LiveSubscription {
    let result: Result<(LiveSignals, Bool), StreamRefusal> = registry.withLock { registry in
      do throws(StreamRefusal) {
        let isFirst = registry.arrivals.isEmpty
        return .success((try registry.add(permission, since: store.head), isFirst))
      } catch {
        return .failure(error)
      }
    }
    let (signals, isFirst) = try result.get()
    let subscription = LiveSubscription(signals, feed: self)
    // The thread puts an ending into the gate before it looks for the streams that it ends. So an ending that it examined
    // before the stream was added is in the gate now.
    if let ending = ending(of: permission) { throw .ended(ending) }
    // The user's rooms are read at once, so that the first event need not wait for them.
    if isFirst { store.wakeWaiters() }
    return subscription
  }

  private func ending(of permission: LivePermission) -> StreamEnding? {
    if let session = permission.session, gate.isEnded(session, of: permission.user) { return .sessionEnded }
    if gate.isDisabled(permission.user) { return .accountDisabled }
    if let time = permission.expiresAt, now() >= time { return .accessTokenExpired }
    return nil
  }

  func remove(_ signals: LiveSignals) {
    registry.withLock { $0.remove(signals) }
  }

  /// Changes the registry, and wakes the thread for it.
  func withNews<T: Sendable>(_ body: (inout LiveRegistry) -> T) -> T {
    let (result, isFirst) = registry.withLock { registry in
      let hadNews = registry.hasNews
      let result = body(&registry)
      return (result, registry.hasNews && !hadNews)
    }
    if isFirst { store.wakeWaiters() }
    return result
  }

  // MARK: - Typing, presence and open rooms

  /// Whether a device shows a room on a stream.
  package func isOpen(_ room: RoomID, _ device: DeviceID, of user: UserID) -> Bool {
    registry.withLock { $0.isOpen(room, device, of: user) }
  }

  // MARK: - Lifecycle

  /// Starts the thread, unless the feed was started or stopped before.
  func start() {
    let isFirst = thread.withLock { state in
      guard case .idle = state else { return false }
      state = .running
      return true
    }
    guard isFirst else { return }
    let thread = Thread {
      CurrentThread.setName("hansard-live")
      var cycle = LiveCycle(self)
      cycle.run()
      self.finished.signal()
    }
    thread.start()
  }

  /// Ends all streams and opens no more. Does not block, and can be called more than once.
  package func endStreams() {
    for signals in registry.withLock({ $0.stop() }) { end(signals, .stopping()) }
  }

  /// Does the same, stops the thread and waits for its end. Call it before the store and the read models are closed.
  package func stop() {
    endStreams()
    let wasRunning = thread.withLock { state in
      defer { state = .stopping }
      if case .idle = state { return false }
      return true
    }
    guard wasRunning else { return }
    store.wakeWaiters()
    finished.wait()
    finished.signal()
  }

  // MARK: - For the thread

  var isStopping: Bool {
    thread.withLock { state in
      if case .stopping = state { return true }
      return false
    }
  }

  /// Whether the thread has something to do besides following the log.
  var hasNews: Bool { registry.withLock { !$0.arrivals.isEmpty || $0.hasNews } }

  func withRegistry<T: Sendable>(_ body: (inout LiveRegistry) -> T) -> T {
    registry.withLock { body(&$0) }
  }

  func end(_ signals: LiveSignals, _ ending: StreamEnding) {
    signals.end(ending)
    remove(signals)
  }
}
