import HummingbirdCore
import NIOCore
import NIOHTTPTypes
import NIOHTTPTypesHTTP1

/// Puts a `DirectSendHandler` behind Hummingbird's `HTTPConnectionStateHandler`, which is added after this one. That handler
/// ends idle connections, and all connections at shutdown, so it must see messages that bypass the router. HTTP/2 streams get
/// none: each has a task of its own anyway.
final class DirectSendPlacement: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPRequestPart
  typealias InboundOut = HTTPRequestPart

  private let gate: StartGate

  init(_ gate: StartGate) {
    self.gate = gate
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    // The first part that arrives is a head.
    let pipeline = context.pipeline.syncOperations
    if (try? pipeline.context(handlerType: HTTP1ToHTTPServerCodec.self)) != nil,
      let last = try? pipeline.handler(type: HTTPConnectionStateHandler.self)
    {
      try? pipeline.addHandler(DirectSendHandler { [gate] in gate.directPath }, position: .after(last))
    }
    context.fireChannelRead(data)
    pipeline.removeHandler(context: context, promise: nil)
  }
}

@available(*, unavailable)
extension DirectSendPlacement: Sendable {}
