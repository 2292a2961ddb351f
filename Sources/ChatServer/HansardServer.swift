import ChatPrimitives
import ChatProtocol
package import ChatService
import HTTPTypes
package import Hummingbird
import HummingbirdCore
package import Logging
import NIOCore
import ServiceLifecycle
import UnixSignals

/// The HTTP side of Hansard.
package struct HansardServer: Sendable {
  /// What the operator may set.
  package struct Configuration: Sendable {
    package var host: String
    package var port: Int
    /// Serves `PUT /bench/messages/{messageId}`, which decodes and answers and writes nothing: what sending is
    /// measured against.
    package var servesBench: Bool

    package init(host: String, port: Int, servesBench: Bool) {
      self.host = host
      self.port = port
      self.servesBench = servesBench
    }
  }

  private let chat: ChatService
  private let issuer: TokenIssuer
  private let authenticator: Authenticator

  package init(chat: ChatService, issuer: TokenIssuer, administrator: AdministratorToken) {
    self.chat = chat
    self.issuer = issuer
    authenticator = Authenticator(issuer: issuer, administrator: administrator, chat: chat)
  }

  /// - Parameter onReady: called with the port once connections are accepted.
  package func application(
    _ configuration: Configuration, logger: Logger, onReady: @escaping @Sendable (Int) async -> Void
  ) -> some ApplicationProtocol {
    Application(
      router: router(configuration),
      server: .http1(
        configuration: HTTP1Channel.Configuration(
          additionalChannelHandlers: [
            IdleStateHandler(allTimeout: StalledConnections.patience), StalledConnections(),
          ],
          idleTimeout: StalledConnections.patience)),
      configuration: ApplicationConfiguration(
        address: .hostname(configuration.host, port: configuration.port), serverName: nil),
      onServerRunning: { channel in await onReady(channel.localAddress?.port ?? configuration.port) },
      logger: logger)
  }

  /// How long requests under way may take once the server is told to stop; then their connections are closed.
  private static let stopPatience = Duration.seconds(10)

  /// Serves until SIGTERM or SIGINT, or until it fails; then lets what is under way end, but does not wait for ever: a
  /// client that sends half a request, or reads no answer, holds nothing up.
  package static func run(_ application: some ApplicationProtocol) async throws {
    var configuration = ServiceGroupConfiguration(
      services: [application], gracefulShutdownSignals: [.sigterm, .sigint], logger: application.logger)
    configuration.maximumGracefulShutdownDuration = stopPatience
    do {
      try await ServiceGroup(configuration: configuration).run()
    } catch is CancellationError {
      application.logger.warning(
        "connections were cut: their clients neither sent the rest nor read the answer",
        metadata: ["after": "\(stopPatience)"])
    }
  }

  private func router(_ configuration: Configuration) -> Router<BasicRequestContext> {
    let router = Router(context: BasicRequestContext.self)
    router.add(middleware: ProblemMiddleware())
    let handlers = Handlers(chat: chat, issuer: issuer)
    for route in RouteTable.routes { add(route, handlers, to: router) }
    if configuration.servesBench { add(RouteTable.bench, handlers, to: router) }
    return router
  }

  private func add(_ route: Route, _ handlers: Handlers, to router: Router<BasicRequestContext>) {
    let endpoint = route.endpoint
    router.on(RouterPath(endpoint.path), method: endpoint.method.name) { request, context in
      let now = ChatService.now()
      let principal = try await authenticator.principal(of: request, for: endpoint, at: now)
      if endpoint.method == .get, let principal { try authenticator.requireOpenSession(principal) }
      let exchange = Exchange(
        request: request, parameters: context.parameters, principal: principal, requestID: context.id,
        receivedAt: now, logger: context.logger)
      try exchange.requireQuery(of: endpoint)
      return try await route.handle(handlers, exchange)
    }
  }

  /// `METHOD path access`, one line an endpoint.
  package static var routeLines: [String] {
    RouteTable.routes.map(\.endpoint).map { "\($0.method.rawValue) \($0.path) \($0.access.rawValue)" }
  }

  /// `code status`, one line a problem.
  package static var errorLines: [String] {
    ProblemCode.everyCode.map { "\($0.code) \($0.status)" }
  }
}

extension Endpoint.Method {
  fileprivate var name: HTTPRequest.Method {
    switch self {
    case .get: .get
    case .put: .put
    case .post: .post
    case .patch: .patch
    case .delete: .delete
    }
  }
}
