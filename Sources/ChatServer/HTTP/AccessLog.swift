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

  /// - Parameter response: nil if there is none, because the client is gone.
  func write(_ request: Request, _ context: ServerContext, _ response: Response?, _ time: Duration) {
    var fields: Logger.Metadata = [
      "requestId": "\(context.id)", "method": "\(LoggedRoute.method(request))",
      "route": "\(LoggedRoute.path(context))", "status": "\(response?.status.code ?? 0)",
      "milliseconds": "\(Self.milliseconds(time))",
    ]
    if let bytes = response?.body.contentLength { fields["bytes"] = "\(bytes)" }
    if let address = context.peer { fields["peer"] = "\(address)" }
    if let trace = context.trace { fields.merge(trace.metadata) { first, _ in first } }
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
