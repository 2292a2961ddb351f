import ChatDomain
import ChatPrimitives
import Synchronization

/// A slot for one read of a stream; a failure if too many reads wait.
typealias ReadTurn = Result<AsyncSemaphore<UserID>.Slot, TooManyWaiting>

/// The signals for one stream, and the task or callback that waits for them. The feed and the subscription share it.
final class LiveSignals: Sendable {
  /// Identifies the subscription.
  let number: UInt64
  let user: UserID
  let session: SessionID?
  let device: DeviceID?

  /// Why a wait is over.
  enum Wake: Sendable {
    case signal(LiveSignal)
    case timedOut
    case cancelled
  }

  typealias Waiter = CheckedContinuation<Wake, Never>

  private enum Turn {
    case none
    case awaited(AsyncSemaphore<UserID>.Place)
    case come(ReadTurn)
  }

  private struct State {
    var changes: PendingChanges
    var expiring: Timestamp?
    var ending: StreamEnding?
    var expiresAt: Timestamp?
    /// Whether the client was told that its access token expires.
    var isNoticed = false
    var isCancelled = false
    var waiter: Waiter?
    /// How many times `beat` was called since the stream sent something.
    var beats = 0
    /// Whether the stream should send something, so that its connection is not idle.
    var isHeartbeatDue = false
    /// Which notices the stream shows; nil if none.
    var filter: SyncFilter?
    var notices = PendingNotices()
    /// Whether the last signal was a change. Then notices come next, so that constant changes do not hold them back.
    var wasChange = false
    /// Counts the waits, so that a late timer does not end the next one.
    var waits: UInt64 = 0
    /// Called once when the stream ends.
    var whenEnded: (@Sendable () -> Void)?
    /// Called once when there is a signal.
    var whenSignalled: (@Sendable () -> Void)?
    var turn = Turn.none

    private var hasSignal: Bool {
      switch turn {
      case .none: isOver || expiring != nil || !changes.isEmpty || !notices.isEmpty || isHeartbeatDue
      case .awaited: isOver
      case .come: true
      }
    }

    private var isOver: Bool { ending != nil || isCancelled }

    mutating func takeCallback() -> (@Sendable () -> Void)? {
      guard whenSignalled != nil, hasSignal else { return nil }
      defer { whenSignalled = nil }
      return whenSignalled
    }

    /// The most important signal. The ending stays.
    mutating func take() -> Wake? {
      if let ending { return .signal(.ended(ending)) }
      if isCancelled { return .cancelled }
      return takeSignal().map { .signal($0) }
    }

    private mutating func takeSignal() -> LiveSignal? {
      if let time = expiring {
        expiring = nil
        return .expiring(at: time)
      }
      if notices.isEmpty || !wasChange, let change = changes.take() {
        wasChange = true
        return change
      }
      wasChange = false
      if !notices.isEmpty { return .notices(notices.takeAll()) }
      if isHeartbeatDue {
        isHeartbeatDue = false
        beats = 0
        return .heartbeat
      }
      return nil
    }

    /// The waiting task and its signal, if there is one for it.
    mutating func wake() -> (Waiter, Wake)? {
      guard let waiter, let wake = take() else { return nil }
      self.waiter = nil
      return (waiter, wake)
    }
  }

  private let state: Mutex<State>

  /// - Parameter since: the log's head. The first read comes later, and so includes everything up to there.
  init(number: UInt64, _ permission: LivePermission, since: LogPosition) {
    self.number = number
    user = permission.user
    session = permission.session
    device = permission.device
    state = Mutex(State(changes: PendingChanges(since: since), expiresAt: permission.expiresAt))
  }

  var ending: StreamEnding? { state.withLock { $0.ending } }
  var isCancelled: Bool { state.withLock { $0.isCancelled } }
  var isWaiting: Bool { state.withLock { $0.waiter != nil } }

  // MARK: - Sending

  /// Tells the stream to read up to a position, unless it has read that far or was told to.
  /// - Parameter content: all that concerns the user after the last change that this was called for. Nil if the stream
  ///   has to read it.
  func change(through position: LogPosition, _ content: LiveContent? = nil) {
    update { $0.changes.add(through: position, content) }
  }

  func end(_ ending: StreamEnding) {
    let whenEnded = state.withLock { state in
      if state.ending == nil { state.ending = ending }
      defer { state.whenEnded = nil }
      return state.whenEnded
    }
    whenEnded?()
    update { _ in }
  }

  func cancel() {
    update { $0.isCancelled = true }
  }

  func renew(until time: Timestamp?) {
    state.withLock { state in
      state.expiresAt = time
      state.isNoticed = false
      state.expiring = nil
    }
  }

  /// Notices that the access token expires soon.
  /// - Returns: whether it has expired.
  func checkExpiry(at now: Timestamp) -> Bool {
    var isExpired = false
    update { state in
      guard let expiresAt = state.expiresAt else { return }
      isExpired = now >= expiresAt
      let notice = expiresAt.adding(milliseconds: -Limits.streamExpiryNoticeSeconds * 1000)
      guard now >= notice, !state.isNoticed else { return }
      state.isNoticed = true
      state.expiring = expiresAt
    }
    return isExpired
  }

  /// Called about once a second. Tells a stream that had nothing to send for a while to send a heartbeat.
  func beat() {
    update { state in
      state.beats += 1
      if state.beats >= Limits.streamHeartbeatSeconds { state.isHeartbeatDue = true }
    }
  }

  /// The stream has something to send. So no heartbeat is due.
  func sends() {
    state.withLock { ($0.beats, $0.isHeartbeatDue) = (0, false) }
  }

  /// From now on, the stream shows the notices that the client wants.
  func show(_ filter: SyncFilter) {
    state.withLock { $0.filter = filter }
  }

  /// Shows a notice, if the client wants it.
  func add(_ notice: LiveNotice) {
    update { state in
      if state.filter?.wants(notice) == true { state.notices.add(notice) }
    }
  }

  /// The notices that wait, for tests.
  func takeNotices() -> [LiveNotice] { state.withLock { $0.notices.takeAll() } }

  private func update(_ body: (inout State) -> Void) {
    let (woken, callback) = state.withLock { state in
      body(&state)
      return (state.wake(), state.takeCallback())
    }
    if let (waiter, wake) = woken { waiter.resume(returning: wake) }
    callback?()
  }

  // MARK: - Waiting

  /// The next signal. Only one task may wait.
  /// - Parameter timeout: how long to wait at most.
  func next(timeout: Duration) async -> Wake {
    let number = state.withLock { state in
      state.waits += 1
      return state.waits
    }
    let timer = Task {
      try await Task.sleep(for: timeout)
      self.stopWaiting(.timedOut, number)
    }
    defer { timer.cancel() }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { waiter in
        let ready: Wake? = state.withLock { state in
          precondition(state.waiter == nil, "two tasks wait for one subscription")
          if let wake = state.take() { return wake }
          // A cancellation after this check waits for the lock and then finds the waiter.
          if Task.isCancelled { return .cancelled }
          state.waiter = waiter
          return nil
        }
        if let ready { waiter.resume(returning: ready) }
      }
    } onCancel: {
      self.stopWaiting(.cancelled, number)
    }
  }

  /// The next signal if there is one.
  func take() -> Wake? { state.withLock { $0.take() } }

  /// Calls `body` once when there is a signal, at once if there is one. A stream that waits in this way has no task.
  func whenSignalled(_ body: @escaping @Sendable () -> Void) {
    let callback = state.withLock { state in
      state.whenSignalled = body
      return state.takeCallback()
    }
    callback?()
  }

  // MARK: - Turns to read

  func waitForTurn(in reads: AsyncSemaphore<UserID>) {
    let place = reads.place(for: user)
    state.withLock { $0.turn = .awaited(place) }
    place.wait { [self] turn in
      // A stream that no longer waits leaves the slot to the next one.
      update { state in
        if case .awaited = state.turn { state.turn = .come(turn) }
      }
    }
  }

  /// The turn if it has come. Otherwise the stream stops waiting for it.
  func takeTurn() -> ReadTurn? {
    let turn = state.withLock { state in
      defer { state.turn = .none }
      return state.turn
    }
    switch turn {
    case .none: return nil
    case .awaited(let place):
      place.leave()
      return nil
    case .come(let turn): return turn
    }
  }

  private func stopWaiting(_ wake: Wake, _ number: UInt64) {
    let waiter = state.withLock { state -> Waiter? in
      guard state.waits == number else { return nil }
      defer { state.waiter = nil }
      return state.waiter
    }
    waiter?.resume(returning: wake)
  }

  /// Calls `body` once when the stream ends, at once if it has ended. Replaces the previous body.
  func whenEnded(_ body: (@Sendable () -> Void)?) {
    let hasEnded = state.withLock { state in
      state.whenEnded = state.ending == nil ? body : nil
      return state.ending != nil
    }
    if hasEnded { body?() }
  }
}
