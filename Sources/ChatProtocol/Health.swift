public import ChatPrimitives

/// `GET /healthz`: the process answers.
public struct Health: Codable, Sendable, Hashable {
  /// `ok`
  public var status: String

  public init(status: String) {
    self.status = status
  }
}

/// `GET /readyz`: 200 when requests are served, 503 with a problem otherwise.
public struct Readiness: Codable, Sendable, Hashable {
  /// `ready`
  public var status: String
  /// The last durable position.
  public var head: LogPosition
  public var projections: [ProjectionReadiness]

  public init(status: String, head: LogPosition, projections: [ProjectionReadiness]) {
    self.status = status
    self.head = head
    self.projections = projections
  }
}

/// How far one projection has come.
public struct ProjectionReadiness: Codable, Sendable, Hashable {
  public var name: String
  public var position: LogPosition
  /// Events behind the head.
  public var lag: Int

  public init(name: String, position: LogPosition, lag: Int) {
    self.name = name
    self.position = position
    self.lag = lag
  }
}
