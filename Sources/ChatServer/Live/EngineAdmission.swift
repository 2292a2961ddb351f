import ChatPrimitives
import HTTPTypes
import Hummingbird
import NIOCore
import SocketProtocols

/// Accepts WebSockets: those that begin a session, and those to which a session upgrades.
extension EngineEndpoint: WebSocketAdmission {
  func accept(_ request: HTTPRequest, on channel: any Channel) async -> WebSocketAcceptance? {
    try? await socket(request, channel).map { socket, context in
      let messages = WebSocketMessages.Limits(
        messageBytes: settings.limits.maxPayload, fragments: Limits.engineFragments)
      // Engine.IO has pings of its own.
      return WebSocketAcceptance(
        limits: WebSocketConnection.Limits(
          messages: messages, pingInterval: nil, silence: nil, closing: .seconds(Limits.webSocketClosingSeconds)),
        unfinished: settings.unfinished.map { UnfinishedBytes($0, of: context.address, context.logger) },
        context: context, makeApplication: { socket })
    }
  }

  /// - Returns: nil if the request is not one of a WebSocket.
  private func socket(
    _ request: HTTPRequest, _ channel: any Channel
  ) async throws -> (EngineSocket, ServerContext)? {
    let engineRequest = try EngineRequest(request, settings.origins)
    let request = Request(head: request, body: RequestBody(buffer: ByteBuffer()))
    var context = ServerContext(on: channel, settings.logger, trace: TraceContext(request.headers))
    try settings.addresses.admit(request, &context)
    switch engineRequest {
    case .open(.websocket):
      let origin = CommandOrigin(
        channel: channel, address: context.address, forwardedFor: request.headers[.xForwardedFor],
        trace: context.trace, logger: context.logger)
      return (EngineSocket(.opening(try admit(origin, Credentials(of: request)))), context)
    case .upgrade(let id):
      let session = try find(id)
      let socket = EngineSocket(.upgrade(of: session))
      try await session.request({ $0.socketOpened(now: $1) }, socket: socket)
      return (socket, context)
    case .open(.polling), .poll, .post: return nil
    }
  }
}
