import HTTPTypes
import Hummingbird
package import Logging

/// Writes a line for each request, with the route as it is declared. The path and the query are not logged, because they can
/// contain the token of an invite or a ticket.
package struct AccessLog: Sendable {
  private let logger: Logger

  /// - Parameter logger: logs lines of level `info`.
  package init(_ logger: Logger) {
    self.logger = logger
  }

  /// What a line has of a request and its response.
  struct Line {
    var requestID: String
    var method: HTTPRequest.Method
    /// The path as it is declared; nil if there is none.
    var route: String?
    /// Nil if there is no response, because the client is gone.
    var status: HTTPResponse.Status?
    /// The length of the response's body, if it is known.
    var bytes: Int?
    /// The other end of the connection.
    var peer: NetworkAddress?
    var trace: TraceContext?
    var time: Duration
  }

  /// - Parameter response: nil if there is none, because the client is gone.
  func write(_ request: Request, _ context: ServerContext, _ response: Response?, _ time: Duration) {
    write(
      Line(
        requestID: context.id, method: request.method, route: context.endpointPath, status: response?.status,
        bytes: response?.body.contentLength, peer: context.peer, trace: context.trace, time: time))
  }

  func write(_ line: Line) {
    var fields: Logger.Metadata = [
      "requestId": "\(line.requestID)", "method": "\(LoggedRoute.method(line.method))",
      "route": "\(LoggedRoute.path(line.route))", "status": "\(line.status?.code ?? 0)",
      "milliseconds": "\(Self.milliseconds(line.time))",
    ]
    if let bytes = line.bytes { fields["bytes"] = "\(bytes)" }
    if let address = line.peer { fields["peer"] = "\(address)" }
    if let trace = line.trace { fields.merge(trace.metadata) { first, _ in first } }
    logger.info("request", metadata: fields)
  }

  /// With three digits after the point.
  private static func milliseconds(_ time: Duration) -> String {
    let (seconds, attoseconds) = time.components
    let microseconds = seconds * 1_000_000 + attoseconds / 1_000_000_000_000
    let digits = String(microseconds % 1000)
    return "\(microseconds / 1000)." + String(repeating: "0", count: 3 - digits.count) + digits
  }
}

extension TraceContext {
  /// For lines of the server's log.
  var metadata: Logger.Metadata {
    ["traceId": "\(traceID)", "spanId": "\(spanID)", "parentSpanId": "\(parentSpanID)"]
  }
}
