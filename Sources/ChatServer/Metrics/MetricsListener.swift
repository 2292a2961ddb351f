import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
package import ServerMetrics

/// Where and what scrapes get.
package struct MetricsEndpoint: Sendable {
  package let host: String
  package let port: Int
  package let exporter: MetricsExporter

  package init(host: String, port: Int, exporter: MetricsExporter) {
    self.host = host
    self.port = port
    self.exporter = exporter
  }

  /// The only path.
  static let path = "/metrics"
  /// The maximum number of connections at once. A scraper needs one.
  private static let connections = 16
  /// A connection on which nothing moves is closed after this time.
  private static let idleTimeout = TimeAmount.seconds(60)

  /// Listens on an address of its own, which clients of the API do not reach.
  func service(logger: Logger) -> HTTPService<MetricsResponder> {
    HTTPService(
      MetricsResponder(exporter: exporter),
      .http1(
        configuration: .init(
          additionalChannelHandlers: [IdleStateHandler(allTimeout: Self.idleTimeout), StalledConnections()],
          idleTimeout: Self.idleTimeout)),
      at: ConfiguredAddress(host: host, port: port, setting: "metrics.host and metrics.port"),
      .maximum(Self.connections, logger: logger), logger: logger, onListening: { _ in })
  }
}

/// Responds to `GET /metrics`.
struct MetricsResponder: HTTPResponder {
  let exporter: MetricsExporter

  func respond(to request: Request, context: ServerContext) async throws -> Response {
    guard request.uri.path == MetricsEndpoint.path else { return Response(status: .notFound) }
    guard request.method == .get || request.method == .head else {
      return Response(status: .methodNotAllowed, headers: [.allow: "GET, HEAD"])
    }
    let response = Response(
      status: .ok, headers: [.contentType: MetricsExporter.contentType],
      body: ResponseBody(byteBuffer: ByteBuffer(string: await exporter.text())))
    return request.method == .head ? response.createHeadResponse() : response
  }
}
