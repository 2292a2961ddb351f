public import ChatPrimitives

/// `GET /healthz`: the process responds.
public struct Health: ResponseObject {
  /// `ok`
  public var status: String

  public init(status: String) {
    self.status = status
  }
}

/// `GET /readyz`: 200 if requests are served, otherwise 503 with a problem.
public struct Readiness: ResponseObject {
  /// `ready`, or `degraded` while the search index or the push outbox is being built or cannot follow the log, or a push
  /// provider is stopped.
  public var status: String
  /// The last durable position.
  public var head: LogPosition
  public var projections: [ProjectionReadiness]
  public var clock: ClockReadiness
  public var storage: StorageReadiness
  /// Nil unless notifications are sent through APNs, FCM or Web Push.
  public var pushProviders: [PushProviderReadiness]?

  public init(
    status: String, head: LogPosition, projections: [ProjectionReadiness], clock: ClockReadiness,
    storage: StorageReadiness, pushProviders: [PushProviderReadiness]? = nil
  ) {
    self.status = status
    self.head = head
    self.projections = projections
    self.clock = clock
    self.storage = storage
    self.pushProviders = pushProviders
  }
}

/// The space on the file systems of the server's data.
public struct StorageReadiness: Codable, Sendable, Hashable {
  /// `ok`, `low` (less than the setting `storage.lowMebibytes`) or `full` (less than the next segment of the log needs).
  public var status: String
  /// The bytes that are free where they are fewest.
  public var freeBytes: UInt64
  /// What to do; only if the status is not `ok`.
  public var detail: String?

  public init(status: String, freeBytes: UInt64, detail: String?) {
    self.status = status
    self.freeBytes = freeBytes
    self.detail = detail
  }
}

/// Whether a push provider accepts notifications.
public struct PushProviderReadiness: Codable, Sendable, Hashable {
  /// `apns`, `fcm`, `webPush` or `apnsSandbox`.
  public var name: String
  /// `running`, `paused` (it asked for a pause or cannot be reached, and is tried again) or `stopped` (an operator has to
  /// do what `detail` says).
  public var state: String
  /// Why it is not running and what to do. If it is running: what it last refused, perhaps because of a wrong key or topic,
  /// until it accepts a notification. Otherwise null.
  @Nullable public var detail: String?

  public init(name: String, state: String, detail: String?) {
    self.name = name
    self.state = state
    self.detail = detail
  }
}

/// How far one projection has followed the log.
public struct ProjectionReadiness: Codable, Sendable, Hashable {
  public var name: String
  public var position: LogPosition
  /// How many events it is behind the head.
  public var lag: Int
  /// If it does not follow the log, why, and what an operator can do; while it is being built, its progress. Nil while
  /// it follows the log.
  public var fault: String?

  public init(name: String, position: LogPosition, lag: Int, fault: String?) {
    self.name = name
    self.position = position
    self.lag = lag
    self.fault = fault
  }
}

/// The state of the server's clock: part of `GET /readyz`, and the response to `POST /v1/admin/clock/confirm`.
public struct ClockReadiness: ResponseObject {
  /// `ok`, `jump_held` (the system clock jumped ahead and is not trusted) or `behind_log` (it is behind the log's last
  /// time).
  public var status: String
  /// The time that the server uses.
  public var time: Timestamp
  /// How far the system clock is ahead of `time` without being trusted, in seconds; zero if it is trusted.
  public var systemAheadSeconds: Int64
  /// In how many seconds the system clock is trusted if it stays as it is; only while a jump is held.
  public var trustedInSeconds: Int64?
  /// How far the log's last time is ahead of `time`, in seconds; zero for up to five minutes.
  public var logAheadSeconds: Int64
  /// What is wrong and what to do; only if the status is not `ok`.
  public var detail: String?

  public init(
    status: String, time: Timestamp, systemAheadSeconds: Int64, trustedInSeconds: Int64?, logAheadSeconds: Int64,
    detail: String?
  ) {
    self.status = status
    self.time = time
    self.systemAheadSeconds = systemAheadSeconds
    self.trustedInSeconds = trustedInSeconds
    self.logAheadSeconds = logAheadSeconds
    self.detail = detail
  }
}
