import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import ServiceLifecycle

/// Listens and passes requests to a responder, as Hummingbird's `Application` does, with a clock of its own.
///
/// The clock of `Application` merges two sequences (`cancelOnGracefulShutdown`). The merge of swift-async-algorithms holds a
/// lock at a point where its task can move to another thread, because our tasks run on event loops (`ServeCommand`). An
/// event loop that then wants the lock never continues, if the rest of that task is in its own queue. That was seen once, with
/// 10,000 connections at shutdown.
struct HTTPService<Responder: HTTPResponder>: Service where Responder.Context == ServerContext {
  let responder: Responder
  let server: HTTPServerBuilder
  let address: ConfiguredAddress
  let connections: any AvailableConnectionsDelegate
  let logger: Logger
  let onListening: @Sendable (any Channel) async -> Void
  private let date = DateField()

  init(
    _ responder: Responder, _ server: HTTPServerBuilder, at address: ConfiguredAddress,
    _ connections: any AvailableConnectionsDelegate, logger: Logger,
    onListening: @escaping @Sendable (any Channel) async -> Void
  ) {
    self.responder = responder
    self.server = server
    self.address = address
    self.connections = connections
    self.logger = logger
    self.onListening = onListening
  }

  /// - Throws: `ListenError` if the address cannot be used.
  func run() async throws {
    let configuration = ServerConfiguration(
      address: address.bindAddress, availableConnectionsDelegate: connections)
    let service = try server.buildServer(
      configuration: configuration, eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: logger
    ) { request, writer, channel in
      await channel.waitForTurn()
      let response = try await response(to: request, on: channel)
      do {
        try await writer.write(response: response.head, body: response.body)
      } catch is HTTPParserError {
        // This error would have the server write another response.
        throw ChannelError.inputClosed
      }
      if response.headers[.connection] == "close" { try await Self.end(channel) }
    } onServerRunning: {
      await onListening($0)
    }
    do {
      // Only what happens before the server listens ends it with an error.
      try await service.run()
    } catch {
      throw address.listenError(error)
    }
  }

  /// Closes a connection whose response has `Connection: close`, for example after HEAD for a stream. Hummingbird does
  /// so only if the request has this field, and would serve the requests that follow.
  private static func end(_ channel: any Channel) async throws {
    try await channel.eventLoop.submit {
      try channel.pipeline.syncOperations.addHandler(LingeringClose(), position: .first)
      channel.close(mode: .output, promise: nil)
    }.get()
    let limit = channel.eventLoop.scheduleTask(in: LingeringClose.time) { channel.close(promise: nil) }
    try await channel.closeFuture.get()
    limit.cancel()
    throw ChannelError.alreadyClosed
  }

  private func response(to request: Request, on channel: any Channel) async throws -> Response {
    let context = ServerContext(on: channel, logger, trace: TraceContext(request.headers))
    var response: Response
    do {
      response = try await responder.respond(to: request, context: context)
    } catch let error as HTTPParserError {
      throw error
    } catch {
      // The router responds to errors itself, unless the client is gone.
      logger.debug("a request failed without a response", metadata: ["error": "\(LoggedError.text(error))"])
      response = Response(status: .internalServerError)
    }
    response.headers[.date] = date.text()
    // The router sets it, but not for preflight requests.
    if response.headers[.xRequestID] == nil { response.headers[.xRequestID] = context.id }
    return response
  }
}
