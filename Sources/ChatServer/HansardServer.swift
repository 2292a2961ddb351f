import ChatPrimitives
import ChatProtocol
package import ChatService
import HTTPTypes
package import Hummingbird
package import Logging

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
      configuration: ApplicationConfiguration(
        address: .hostname(configuration.host, port: configuration.port), serverName: nil),
      onServerRunning: { channel in await onReady(channel.localAddress?.port ?? configuration.port) },
      logger: logger)
  }

  private func router(_ configuration: Configuration) -> Router<BasicRequestContext> {
    let router = Router(context: BasicRequestContext.self)
    router.add(middleware: ProblemMiddleware())
    var routes = RouteTable(chat: chat, issuer: issuer, health: HealthHandlers(chat: chat)).routes
    if configuration.servesBench { routes.append(Route(Endpoints.bench, BenchHandler().run)) }
    for route in routes { add(route, to: router) }
    return router
  }

  private func add(_ route: Route, to router: Router<BasicRequestContext>) {
    guard let method = HTTPRequest.Method(route.endpoint.method.rawValue) else { return }
    let access = route.endpoint.access
    let isQuery = route.endpoint.method == .get
    router.on(RouterPath(route.endpoint.path), method: method) { request, context in
      let now = ChatService.now()
      let principal = try await authenticator.principal(of: request, for: access, at: now)
      if isQuery, let principal { try authenticator.requireOpenSession(principal) }
      return try await route.handle(
        Exchange(
          request: request, parameters: context.parameters, principal: principal, requestID: context.id,
          receivedAt: now))
    }
  }

  /// `METHOD path access`, one line an endpoint.
  package static var routeLines: [String] {
    Endpoints.all.map { "\($0.method.rawValue) \($0.path) \($0.access.rawValue)" }
  }

  /// `code status`, one line a problem.
  package static var errorLines: [String] {
    ProblemMapping.all.map { "\($0.code) \($0.status)" }
  }
}
