import ChatPrimitives
import ChatProtocol
import ChatService
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import SocketProtocols

/// Accepts the WebSockets of the sync. It refuses only origins that are not allowed, and addresses that exceed their rate
/// limit. Every other problem, such as an expired token, is in the last message of the socket: a browser does not show the
/// response to a refused handshake to the page.
struct SyncSocketAdmission: WebSocketAdmission {
  let services: StreamServices
  let tickets: StreamTickets
  let origins: OriginRule
  let addresses: AddressRateCheck
  let logger: Logger

  private static let limits = WebSocketConnection.Limits(
    messages: WebSocketMessages.Limits(messageBytes: Limits.streamMessageBytes, fragments: Limits.streamFragments),
    pingInterval: .seconds(Limits.webSocketPingSeconds), silence: .seconds(Limits.webSocketSilenceSeconds),
    closing: .seconds(Limits.webSocketClosingSeconds))

  func accept(_ request: HTTPRequest, on channel: any Channel) async -> WebSocketAcceptance? {
    let request = Request(head: request, body: RequestBody(buffer: ByteBuffer()))
    var context = ServerContext(on: channel, logger, trace: TraceContext(request.headers))
    guard origins.allows(request.head), (try? addresses.admit(request, &context)) != nil else { return nil }
    let origin = CommandOrigin(
      channel: channel, address: context.address, forwardedFor: request.headers[.xForwardedFor],
      trace: context.trace, logger: context.logger)
    // The query is the same as that of the event stream.
    let endpoint = Endpoints.syncStream.erased
    let beginning = SyncSocket.Beginning(
      credentials: { [tickets] in
        try request.uri.requireQuery(of: endpoint)
        let credentials = try tickets.credentials(of: request, for: endpoint)
        return credentials.authorization == nil ? nil : credentials
      }, options: { try SyncOptions(request.uri) }, origin: origin)
    let unfinished = UnfinishedBytes(services.unfinished, of: context.address, context.logger)
    return WebSocketAcceptance(limits: Self.limits, unfinished: unfinished, context: context) { [services] in
      SyncSocket(services, beginning)
    }
  }
}

extension WebSocketHandshake {
  init(of request: HTTPRequest) throws(Failure) {
    let fields = request.headerFields
    try self.init(
      method: request.method.rawValue, upgrade: fields[values: .upgrade], connection: fields[values: .connection],
      versions: fields[values: .secWebSocketVersion], keys: fields[values: .secWebSocketKey])
  }
}
