public import ChatPrimitives

/// `GET /v1/admin/projections`: the read models, which requests are answered from.
public struct ReadModelList: ResponseObject {
  /// The last durable position.
  public var head: LogPosition
  public var projections: [ReadModelState]

  public init(head: LogPosition, projections: [ReadModelState]) {
    self.head = head
    self.projections = projections
  }
}

/// How far a read model has followed the log, and its last rebuild.
public struct ReadModelState: ResponseObject {
  public var name: String
  public var schemaVersion: Int
  /// `ready`, `building` (it has no complete file yet) or `failed` (it cannot follow the log, or cannot be read).
  public var state: String
  /// The last event that it has applied.
  public var position: LogPosition
  /// Why it has failed, and what an operator can do.
  @Nullable public var problem: String?
  /// The rebuild that is running, or else the last one since the server was started. Null if there was none.
  @Nullable public var rebuild: ReadModelRebuild?

  public init(
    name: String, schemaVersion: Int, state: String, position: LogPosition, problem: String?,
    rebuild: ReadModelRebuild?
  ) {
    self.name = name
    self.schemaVersion = schemaVersion
    self.state = state
    self.position = position
    self.problem = problem
    self.rebuild = rebuild
  }
}

/// A rebuild of a read model beside the running server.
public struct ReadModelRebuild: Codable, Sendable, Hashable {
  /// `building`, `indexing`, `following` or `switching` while it runs; then `complete`, `cancelled` or `failed`.
  public var state: String
  /// The last event that the new file has.
  public var position: LogPosition
  /// The last event that it needs.
  public var target: LogPosition
  /// Null at the beginning.
  @Nullable public var eventsPerSecond: Int?
  /// How long the remaining events take at this rate. Null if that is unknown, or no events remain.
  @Nullable public var secondsLeft: Int?
  /// How long the rebuild has run, or ran.
  public var elapsedSeconds: Int
  /// Why it has failed, and what an operator can do.
  @Nullable public var problem: String?

  public init(
    state: String, position: LogPosition, target: LogPosition, eventsPerSecond: Int?, secondsLeft: Int?,
    elapsedSeconds: Int, problem: String?
  ) {
    self.state = state
    self.position = position
    self.target = target
    self.eventsPerSecond = eventsPerSecond
    self.secondsLeft = secondsLeft
    self.elapsedSeconds = elapsedSeconds
    self.problem = problem
  }
}
