import ChatProtocol
package import ChatService
import HTTPTypes
import Hummingbird
import ServiceLifecycle
import Synchronization

/// Responds to requests while the service behind it is being opened, and passes them on afterwards. Liveness checks
/// succeed at once, and readiness checks report the progress.
package final class StartGate: Sendable {
  private enum Phase {
    case opening(String)
    case open(Opened)
  }

  /// What serves once the service is open.
  struct Opened: Sendable {
    let responder: any HTTPResponder<ServerContext>
    let sockets: WebSocketEndpoints
    /// Sends plain messages.
    let directPath: DirectPath
    /// Ends the requests that wait for changes, opens no more of them, and returns when clients that poll had the time to
    /// fetch the end.
    let endStreams: @Sendable () async -> Void
  }

  /// The problems that clients get, while the service is being opened and afterwards.
  let problems = ProblemLog()
  private let phase = Mutex(Phase.opening("The server is starting."))

  package init() {}

  /// Sets the progress that readiness checks show. Does nothing once the gate is open.
  package func report(_ progress: OpeningProgress) {
    phase.withLock { phase in
      guard case .opening = phase else { return }
      phase = .opening("The server is starting: \(progress).")
    }
  }

  func open(_ opened: Opened) {
    phase.withLock { $0 = .open(opened) }
  }

  func endStreams() async { await opened?.endStreams() }

  /// Nil while the service is being opened.
  var sockets: WebSocketEndpoints? { opened?.sockets }

  /// Nil while the service is being opened.
  var directPath: DirectPath? { opened?.directPath }

  private var opened: Opened? {
    switch phase.withLock({ $0 }) {
    case .opening: nil
    case .open(let opened): opened
    }
  }

  func respond(to request: Request, _ context: ServerContext) async throws -> Response {
    switch phase.withLock({ $0 }) {
    case .open(let opened): return try await opened.responder.respond(to: request, context: context)
    case .opening(let progress): return try respond(to: request, context, whileOpening: progress)
    }
  }

  private func respond(
    to request: Request, _ context: ServerContext, whileOpening progress: String
  ) throws -> Response {
    var response: Response
    if request.uri.path == Endpoints.health.path, request.method == .get || request.method == .head {
      response = try JSONBody.response(Health(status: "ok")).response
    } else {
      let mapping = ProblemMapping(Refusal.unready(progress))
      problems.note(
        mapping.code, status: mapping.status.code, route: LoggedRoute.none, from: context.peer, to: context.logger)
      response = try JSONBody.response(
        mapping.status, mapping.problem(requestID: context.id), contentType: Problem.contentType,
        headers: mapping.headers)
    }
    ResponseHeaders.complete(&response.headers, requestID: context.id)
    return request.method == .head ? response.createHeadResponse() : response
  }
}

/// Passes every request to the gate.
struct GateResponder: HTTPResponder {
  let gate: StartGate

  func respond(to request: Request, context: ServerContext) async throws -> Response {
    try await gate.respond(to: request, context)
  }
}

/// Ends the streams when the server is told to stop, before the server completes the requests in flight. Otherwise it would
/// wait for requests that wait themselves.
struct StreamShutdown: Service {
  let gate: StartGate

  func run() async throws {
    try await gracefulShutdown()
    await gate.endStreams()
  }
}

/// Opens a service once the server listens, and cancels the opening when the server is told to stop.
struct BackgroundOpening: Service {
  /// Yields the port when the server listens on it.
  let ports: AsyncStream<Int>
  let open: @Sendable (_ port: Int) async throws -> Void

  func run() async throws {
    do {
      try await cancelWhenGracefulShutdown {
        for await port in ports {
          try await open(port)
          return
        }
      }
    } catch {
      guard Task.isShuttingDownGracefully else { throw error }
      return
    }
    try await gracefulShutdown()
  }
}
