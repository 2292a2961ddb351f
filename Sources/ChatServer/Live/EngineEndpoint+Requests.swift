import ChatPrimitives
import ChatService
import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import SocketProtocols

extension EngineRequest {
  /// - Throws: `EngineError`, also if the page that sends the request is not allowed to.
  init(_ request: HTTPRequest, _ origins: OriginRule?) throws(EngineError) {
    if let origins, !origins.allows(request) { throw .forbidden }
    let query = URI(request.path ?? "").queryParameters
    try self.init(
      method: request.method.rawValue,
      isUpgrade: request.headerFields[.upgrade]?.lowercased() == EngineTransport.websocket.rawValue,
      version: query["EIO"].map { String($0) }, transport: query["transport"].map { String($0) },
      session: query["sid"].map { String($0) })
  }
}

extension EngineEndpoint {
  /// Serves the requests of polling clients, and refuses the WebSockets that were not admitted.
  /// - Throws: `EngineError`, or an error of `admit`.
  func respond(_ context: HansardRequestContext) async throws -> Response {
    switch try EngineRequest(context.request.head, settings.origins) {
    case .open(.polling):
      let opening = try admit(CommandOrigin(context), Credentials(of: context.request))
      return Self.response(try await opening.poll(on: context.channel.eventLoop))
    case .poll(let id):
      let session = try find(id)
      return Self.response(try await context.whileClientWaits { try await session.poll() })
    case .post(let id):
      try await post(to: try find(id), context)
      return Self.response(Self.postResponse)
    case .open(.websocket):
      // Only a limit refuses these, unless the handshake is malformed.
      _ = try admit(CommandOrigin(context), Credentials(of: context.request))
      throw EngineError.badRequest
    case .upgrade(let id):
      _ = try find(id)
      throw EngineError.badRequest
    }
  }

  private static let postResponse = Array("ok".utf8)

  private static func response(_ body: [UInt8]) -> Response {
    // The type that clients expect, also for the JSON of the handshake.
    Response(
      status: .ok, headers: [.contentType: "text/plain; charset=UTF-8", .cacheControl: "no-store"],
      body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
  }

  private func post(to session: EngineChannel, _ context: HansardRequestContext) async throws {
    try await session.request { $0.post(now: $1) }
    let body: [UInt8]
    do {
      let buffer = try await context.incomingBody().collect(
        upTo: settings.limits.maxPayload, charging: context.bodyCharge)
      // A body also ends if its task was cancelled. It is then incomplete.
      try Task.checkCancellation()
      body = Array(buffer.readableBytesView)
    } catch Refusal.bodyTooLarge {
      try await session.request { $0.postTooLarge(now: $1) }
      return
    } catch {
      try? await session.request { $0.postCancelled(now: $1) }
      throw error
    }
    try await session.request { $0.postBody(body, now: $1) }
  }
}

extension CommandOrigin {
  fileprivate init(_ context: HansardRequestContext) {
    self.init(
      channel: context.channel, address: context.address,
      forwardedFor: context.request.headers[.xForwardedFor], trace: TraceContext.current, logger: context.logger)
  }
}
