import ChatPrimitives
import ChatProjections
package import ChatProtocol
package import ChatService
package import CoreMetrics
import HTTPTypes
import Hummingbird
import HummingbirdCore
package import Logging
import NIOCore
package import NIOSSL
import ServiceLifecycle
import UnixSignals

/// The HTTP server of Hansard.
package struct HansardServer: Sendable {
  /// The operator's settings.
  package struct Configuration: Sendable {
    package var host: String
    package var port: Int
    /// Serves `PUT /bench/messages/{messageId}`, which decodes and responds but writes nothing. Sending is measured
    /// against it.
    package var servesBench: Bool
    /// Serves the endpoints that the official test suites of the socket protocols need. They are open to everyone.
    package var servesConformance = false
    package var legacyStatus = LegacyStatus()
    package var endCursor = EndCursor.null
    /// Whether plain messages bypass the router.
    package var directPath = true
    package var protection = ProtectionSettings()
    /// The most downloads of media at once. Each has a file open.
    package var downloads = Limits.downloads
    /// The certificate and key that `protection.tls` names, as they were loaded.
    package var tls: TLSConfiguration?
    /// The form of the link that an invite is shared as.
    package var deepLink = DeepLink.default
    /// Whether this server sends messages to an endpoint of Web Push. Nil if it sends none itself: then any endpoint can be
    /// registered.
    package var allowsWebPushEndpoint: (@Sendable (_ endpoint: String) -> Bool)?
    /// Nil if requests are not logged.
    package var accessLog: AccessLog?
    /// Where metrics are kept.
    package var metrics: any MetricsFactory = NOOPMetricsHandler.instance
    /// Where they are served; nil if they are not.
    package var metricsEndpoint: MetricsEndpoint?
    /// Ends the server after its event log has failed; nil if it continues without writes.
    package var failureExit: LogFailureExit?

    package init(host: String, port: Int, servesBench: Bool) {
      self.host = host
      self.port = port
      self.servesBench = servesBench
    }
  }

  let chat: ChatService
  private let issuer: TokenIssuer
  private let identities: IdentityProviders
  private let authenticator: Authenticator
  private let push: (@Sendable () -> PushStatus)?
  private let pushExplanation: EventExplanation
  let bodies = BodyBudget()
  let responses = ResponseBudget()
  private let tickets = StreamTickets()

  /// - Parameters:
  ///   - push: the status of push, for readiness checks; nil if push is off.
  ///   - pushExplanation: explains events, also if push is off.
  package init(
    chat: ChatService, issuer: TokenIssuer, administrator: AdministratorToken, identities: IdentityProviders,
    push: (@Sendable () -> PushStatus)?, pushExplanation: @escaping EventExplanation
  ) {
    self.chat = chat
    self.issuer = issuer
    self.identities = identities
    self.push = push
    self.pushExplanation = pushExplanation
    authenticator = Authenticator(
      issuer: issuer, administrator: administrator, identities: identities, chat: chat)
  }

  /// Opens the gate: from now on, it passes requests on to this server.
  package func serve(through gate: StartGate, _ configuration: Configuration, logger: Logger) {
    let protection = configuration.protection
    let limiter = RateLimiter(protection.rateLimits)
    let addresses = AddressRateCheck(
      proxies: protection.proxies, limiter: limiter, isOfService: { [authenticator] in authenticator.isOfService($0) })
    let opening = StreamOpening(chat: chat, responses: responses, metrics: StreamMetrics(configuration.metrics))
    let origins = OriginRule(protection.crossOrigin)
    // Commands are passed to the gate, which is open by then, because the router needs what needs the services.
    let services = StreamServices(
      chat: chat, authenticator: authenticator, limiter: limiter, opening: opening,
      unfinished: UnfinishedLimits(bodies: bodies, connections: protection.connections),
      responder: GateResponder(gate: gate), problems: gate.problems)
    let engines = engines(configuration, services, origins, addresses, logger)
    let metrics = HTTPMetrics(configuration.metrics, routes: routes(configuration, engines))
    let responder = ObservedResponder(
      next: router(configuration, limiter, addresses, opening, origins, engines, gate.problems).buildResponder(),
      metrics: metrics, accessLog: configuration.accessLog)
    let directPath = DirectPath(
      chat: chat, authenticator: authenticator, limiter: limiter, proxies: protection.proxies, bodies: bodies,
      crossOrigin: CrossOrigin(protection.crossOrigin), metrics: metrics, accessLog: configuration.accessLog,
      logger: logger)
    let sync = SyncSocketAdmission(
      services: services, tickets: tickets, origins: origins, addresses: addresses, logger: logger)
    gate.open(
      StartGate.Opened(
        responder: responder,
        sockets: .all(
          sync: sync, engines, servesConformance: configuration.servesConformance, metrics, configuration.accessLog),
        directPath: directPath,
        endStreams: { [live = chat.live] in
          live.endStreams()
          for engine in engines { engine.stop() }
          let end = ContinuousClock.now + .seconds(Limits.engineStopSeconds)
          for engine in engines { await engine.waitForSessions(until: end) }
        }))
  }

  private static func service(
    _ gate: StartGate, _ configuration: Configuration, _ streams: DetachedStreams, logger: Logger,
    onListening: @escaping @Sendable (Int) -> Void
  ) -> HTTPService<GateResponder> {
    let protection = configuration.protection
    return HTTPService(
      GateResponder(gate: gate),
      .guarded(
        protection.connections, GateAdmission(gate: gate), gate.problems, streams,
        directPathOf: configuration.directPath ? gate : nil, proxies: protection.proxies,
        tls: configuration.tls, offersHTTP2: protection.tls?.offersHTTP2 == true, metrics: configuration.metrics,
        logger: logger),
      at: .api(configuration.host, configuration.port),
      CountedConnections(maximum: protection.connections.maximum, configuration.metrics, logger: logger),
      logger: logger,
      onListening: { channel in onListening(channel.localAddress?.port ?? configuration.port) })
  }

  /// How long requests in flight may take once the server is told to stop; then their connections are closed.
  private static let stopTimeout = Duration.seconds(10)

  /// Listens, opens the service, and serves until SIGTERM, SIGINT or a failure. Then requests in flight are completed,
  /// for a limited time: a client that sends half a request or reads no response does not delay the end.
  ///
  /// - Parameter open: called with the port once the server listens. It must call `serve(through:)`. It is cancelled
  ///   when the server is told to stop before it returns. If it throws, the server ends with that error.
  package static func run(
    _ gate: StartGate, _ configuration: Configuration, logger: Logger,
    open: @escaping @Sendable (_ port: Int) async throws -> Void
  ) async throws {
    let (ports, listening) = AsyncStream<Int>.makeStream()
    let streams = DetachedStreams()
    let service = service(gate, configuration, streams, logger: logger) { listening.yield($0) }
    let opening = BackgroundOpening(ports: ports, open: open)
    // Services are told to stop in the reverse order.
    var services: [any Service] = [opening, streams, service, StreamShutdown(gate: gate)]
    if let endpoint = configuration.metricsEndpoint { services.append(endpoint.service(logger: logger)) }
    var configurations = services.map { ServiceGroupConfiguration.ServiceConfiguration(service: $0) }
    if let exit = configuration.failureExit {
      // Requests in flight are completed, as when the server is told to stop.
      configurations.append(
        ServiceGroupConfiguration.ServiceConfiguration(
          service: exit, failureTerminationBehavior: .gracefullyShutdownGroup))
    }
    var group = ServiceGroupConfiguration(
      services: configurations,
      gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
    group.maximumGracefulShutdownDuration = stopTimeout
    do {
      try await ServiceGroup(configuration: group).run()
    } catch is CancellationError {
      logger.warning(
        "connections were closed at shutdown: their clients did not finish the request or read the response",
        metadata: ["after": "\(stopTimeout)"])
    }
  }

  private func router(
    _ configuration: Configuration, _ limiter: RateLimiter, _ addresses: AddressRateCheck, _ opening: StreamOpening,
    _ origins: OriginRule, _ engines: [EngineEndpoint], _ problems: ProblemLog
  ) -> Router<ServerContext> {
    let router = Router(context: ServerContext.self, options: .autoGenerateHeadEndpoints)
    let protection = configuration.protection
    if let crossOrigin = CrossOrigin(protection.crossOrigin) { router.add(middleware: crossOrigin) }
    router.add(
      middleware: ProblemMiddleware(
        addressRateCheck: addresses, legacyStatus: configuration.legacyStatus, problems: problems,
        now: chat.now))
    let reads = ReadSlots(downloads: configuration.downloads)
    let handlers = Handlers(
      chat: chat, issuer: issuer, identities: identities, logins: protection.logins,
      hashing: HashingLimit(protection.rateLimits), searches: SearchBudget(protection.rateLimits),
      people: PeopleLimit(protection.rateLimits), limiter: limiter, reads: reads, tickets: tickets, streams: opening,
      origins: origins, deepLink: configuration.deepLink,
      allowsWebPushEndpoint: configuration.allowsWebPushEndpoint, push: push, pushExplanation: pushExplanation)
    for route in RouteTable.routes {
      add(route.ending(lists: configuration.endCursor), handlers, limiter, reads, to: router)
    }
    if configuration.servesBench { add(RouteTable.bench, handlers, limiter, reads, to: router) }
    for engine in engines { add(engine, problems, to: router) }
    return router
  }

  /// The paths as they are declared, and their methods.
  private func routes(
    _ configuration: Configuration, _ engines: [EngineEndpoint]
  ) -> [(path: String, method: HTTPRequest.Method)] {
    let all = RouteTable.routes + (configuration.servesBench ? [RouteTable.bench] : [])
    return all.map { ($0.endpoint.path, $0.endpoint.method.name) }
      + engines.flatMap { engine in Self.engineMethods.map { (engine.settings.path, $0) } }
  }

  private func add(
    _ route: Route, _ handlers: Handlers, _ limiter: RateLimiter, _ reads: ReadSlots, to router: Router<ServerContext>
  ) {
    let endpoint = route.endpoint
    let readClass = ReadClass(of: endpoint)
    router.on(RouterPath(endpoint.path), method: endpoint.method.name) { request, context in
      let now = chat.now()
      let caller = try await caller(of: request, context.parameters, for: endpoint, at: now)
      let principal = caller?.principal
      if endpoint.method == .get, let principal { try authenticator.requireOpenSession(principal) }
      let fields = try limiter.admit(principal, rateStatus: context.rateStatus)
      let bodyCharge = bodies.charge(for: context.address, context.logger)
      defer { bodyCharge.release() }
      let requestContext = HansardRequestContext(
        request: request, parameters: context.parameters, caller: caller, requestID: context.id,
        receivedAt: now, address: context.address, logger: context.logger, channel: context.channel,
        bodyCharge: bodyCharge)
      try requestContext.requireQuery(of: endpoint)
      try requestContext.requirePrecondition(of: endpoint)
      let readClass = try readClass.of(requestContext, endpoint)
      var response = try await reads.handle(requestContext, readClass) {
        try await Representation(request: request, endpoint: endpoint).of(
          try await route.handle(handlers, requestContext))
      }
      if readClass == .waiting, let principal { try authenticator.requireStillValid(principal) }
      // The response to a command of a stream is not written to this channel.
      if readClass != .media, CommandTurn.current == nil {
        response = try responses.charge(response, to: context.address, over: context.channel, context.logger)
      }
      if let fields { response.headers.append(contentsOf: fields) }
      return response
    }
  }

  /// Who makes a request, by the signature in its URL, its ticket or its header fields.
  private func caller(
    of request: Request, _ parameters: Parameters, for endpoint: AnyEndpoint, at now: Timestamp
  ) async throws -> Caller? {
    if let caller = try authenticator.signedCaller(of: request, parameters, for: endpoint, at: now) { return caller }
    let credentials = try tickets.credentials(of: request, for: endpoint)
    return try await authenticator.caller(credentials, for: endpoint, at: now)
  }

  /// All endpoints that are served, with the fields of their bodies, as one JSON object.
  package static func contract() throws -> String {
    let description = try ContractDescription(of: RouteTable.routes.map(\.endpoint))
    return String(decoding: try JSONWriter.bytes(of: description), as: UTF8.self)
  }

  /// One line `code status` for each problem.
  package static var errorLines: [String] {
    ProblemCode.everyCode.map { "\($0.code) \($0.status)" }
  }
}

extension AnyEndpoint.Method {
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
