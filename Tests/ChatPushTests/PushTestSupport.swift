import ChatDomain
import ChatPrimitives
import EventStore
import Foundation
import Logging
import Synchronization

@testable import ChatPush

let testLog = UUIDBytes(high: 0xabcd, low: 0x1234)
let testLogger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

/// A folder that is removed when the value is released.
final class TemporaryFolder {
  let path = NSTemporaryDirectory() + "chat-push-" + UUID().uuidString

  deinit { try? FileManager.default.removeItem(atPath: path) }
}

/// A log in memory that also records outcomes.
///
/// Unchecked: stored variables are only accessed while the condition is locked.
final class MemoryLog: EventFeed, OutcomeRecorder, @unchecked Sendable {
  private let condition = NSCondition()
  private var stored: [RecordedEvent]
  private var isClosed = false
  private var isHeld = false
  private var isUnreadable = false
  private var failures: [RecordingFailure] = []
  private var tokens: [PushNotificationKey: PushToken] = [:]

  init(_ events: [RecordedEvent]) {
    stored = events
  }

  var events: [RecordedEvent] { condition.withLock { stored } }
  var head: LogPosition { condition.withLock { LogPosition(UInt64(stored.count)) } }
  /// The recorded outcomes of notifications, in order.
  var outcomes: [PushOutcomes] {
    events.compactMap { recorded in
      guard case .server(.pushOutcomesRecorded(let outcomes)) = recorded.event else { return nil }
      return outcomes
    }
  }

  @discardableResult
  func append(_ event: ChatEvent, by actor: UserID? = nil) -> LogPosition {
    condition.withLock {
      let position = LogPosition(UInt64(stored.count + 1))
      stored.append(Script.recorded(event, at: position, by: actor))
      condition.broadcast()
      return position
    }
  }

  @discardableResult
  func send(_ number: UInt64, to room: RoomID = tea, by author: UserID = anna) -> LogPosition {
    append(
      .room(room, .messages(.sent(.numbered(number), author: author, thread: nil, .plain("text \(number)")))),
      by: author)
  }

  /// Lets the next recordings fail with these errors.
  func fail(_ failures: RecordingFailure...) { condition.withLock { self.failures += failures } }

  /// Lets the next `count` recordings fail.
  func failNext(_ count: Int) {
    condition.withLock { failures += Array(repeating: .transient("overloaded"), count: count) }
  }

  func stopFailing() { condition.withLock { failures = [] } }

  /// How many of the next recordings will fail.
  var failuresLeft: Int { condition.withLock { failures.count } }

  /// Lets every read of events fail from now on.
  func makeUnreadable() { condition.withLock { isUnreadable = true } }

  /// Lets followers wait for new events until `release`, although these are durable.
  func hold() { condition.withLock { isHeld = true } }

  func release() {
    condition.withLock {
      isHeld = false
      condition.broadcast()
    }
  }

  func close() {
    condition.withLock {
      isClosed = true
      condition.broadcast()
    }
  }

  // MARK: EventFeed

  func events(after position: LogPosition, limit: Int) throws -> [RecordedEvent] {
    try condition.withLock {
      if isUnreadable { throw Unreadable() }
      return Array(stored.dropFirst(Int(position.value)).prefix(limit))
    }
  }

  func waitForHead(beyond position: LogPosition) -> Bool {
    condition.withLock {
      while isHeld || stored.count <= Int(position.value), !isClosed { condition.wait() }
      return stored.count > Int(position.value)
    }
  }

  // MARK: OutcomeRecorder

  func record(_ outcomes: PushOutcomes) async throws(RecordingFailure) {
    let failure = condition.withLock { failures.isEmpty ? nil : failures.removeFirst() }
    if let failure { throw failure }
    append(.server(.pushOutcomesRecorded(outcomes)))
  }

  func invalidate(
    _ token: PushToken, of device: DeviceID, of user: UserID
  ) async throws(RecordingFailure) -> TokenInvalidation {
    let current = events.compactMap { recorded -> DeviceDescription? in
      guard case .user(user, let event) = recorded.event else { return nil }
      switch event {
      case .devices(.registered(device, let description)), .devices(.updated(device, let description)):
        return description
      default: return nil
      }
    }.last
    guard current?.tokens.contains(token) == true else { return .replaced }
    return .invalidated(at: append(.user(user, .devices(.tokenInvalidated(device, token))), by: user))
  }
}

struct Unreadable: Error {}

extension PushQueries {
  /// The notification as it may be sent right after its event.
  func notification(_ key: PushNotificationKey) throws -> Lookup {
    try notification(key, at: Script.time(key.position))
  }
}

/// A provider whose results the test decides.
final class ScriptedSender: PushNotificationSender {
  typealias Response = @Sendable (_ notification: PushNotification, _ attempt: Int) async -> SendResult

  private struct State {
    var sent: [PushNotification] = []
    var attempts: [PushNotificationKey: Int] = [:]
    var active: [DeviceID: Int] = [:]
    var mostAtOnceToOneDevice = 0
    var isClosed = false
  }

  private let state = Mutex(State())
  private let response: Response
  let queueSettings: [ProviderQueueSettings]

  init(
    queueSettings: [ProviderQueueSettings] = [ProviderQueueSettings()],
    _ response: @escaping Response = { _, _ in .delivered(response: "200") }
  ) {
    self.queueSettings = queueSettings
    self.response = response
  }

  /// All attempts, in the order in which they began.
  var sent: [PushNotification] { state.withLock { $0.sent } }
  var mostAtOnceToOneDevice: Int { state.withLock { $0.mostAtOnceToOneDevice } }
  var isClosed: Bool { state.withLock { $0.isClosed } }

  func send(_ notification: PushNotification) async -> SendResult {
    let attempt = state.withLock { state in
      state.sent.append(notification)
      state.attempts[notification.key, default: 0] += 1
      state.active[notification.key.device, default: 0] += 1
      state.mostAtOnceToOneDevice = max(state.mostAtOnceToOneDevice, state.active[notification.key.device] ?? 0)
      return state.attempts[notification.key] ?? 1
    }
    let result = await response(notification, attempt)
    state.withLock { $0.active[notification.key.device, default: 0] -= 1 }
    return result
  }

  func close() async { state.withLock { $0.isClosed = true } }
}

/// Opens push over a log in memory, and closes it even if the body throws.
func withPush<T: Sendable>(
  _ folder: TemporaryFolder, _ log: MemoryLog, _ sender: ScriptedSender,
  now: @escaping @Sendable () -> Timestamp = { Script.time(LogPosition(1000)) },
  isOpen: @escaping OpenRoomCheck = { _, _, _ in false },
  _ body: () async throws -> T
) async throws -> T {
  try await withPushService(folder, log, sender, now: now, isOpen: isOpen) { _ in try await body() }
}

/// Like `withPush`, for a body that needs the service.
func withPushService<T: Sendable>(
  _ folder: TemporaryFolder, _ log: MemoryLog, _ sender: ScriptedSender,
  now: @escaping @Sendable () -> Timestamp = { Script.time(LogPosition(1000)) },
  isOpen: @escaping OpenRoomCheck = { _, _, _ in false },
  _ body: (PushService) async throws -> T
) async throws -> T {
  let push = try await PushService.open(
    directory: folder.path, feed: log, logIdentity: testLog, recorder: log, sender: sender, logger: testLogger,
    now: now, isOpen: isOpen)
  let result: Result<T, any Error>
  do {
    result = .success(try await body(push))
  } catch {
    result = .failure(error)
  }
  await push.stopSending()
  log.close()
  try push.close()
  return try result.get()
}

struct NotInTime: Error {}

/// Returns when the condition is true.
/// - Throws: `NotInTime` after two minutes, which only happens if the test hangs.
func eventually(_ condition: () throws -> Bool) async throws {
  let deadline = ContinuousClock.now + .seconds(120)
  while try !condition() {
    guard ContinuousClock.now < deadline else { throw NotInTime() }
    try await Task.sleep(for: .milliseconds(5))
  }
}
