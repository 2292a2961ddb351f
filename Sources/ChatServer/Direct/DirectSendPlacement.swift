import NIOCore
import NIOHTTP1

/// Puts a `DirectSendHandler` in front of the HTTP encoder and decoder of a connection. It must also be in front of the
/// encoder, because the bytes of its responses are encoded already. The placement must be added behind the
/// `RequestGuard`. HTTP/2 streams get no such handler: each has a task of its own anyway.
final class DirectSendPlacement: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = NIOAny
  typealias InboundOut = NIOAny

  private let gate: StartGate

  init(_ gate: StartGate) {
    self.gate = gate
  }

  func handlerAdded(context: ChannelHandlerContext) {
    let pipeline = context.pipeline.syncOperations
    if let encoder = try? pipeline.handler(type: HTTPResponseEncoder.self),
      let requests = try? pipeline.handler(type: RequestGuard.self)
    {
      try? pipeline.addHandler(DirectSendHandler(requests) { [gate] in gate.directPath }, position: .before(encoder))
    }
    pipeline.removeHandler(context: context, promise: nil)
  }
}

@available(*, unavailable)
extension DirectSendPlacement: Sendable {}
