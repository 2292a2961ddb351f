import NIOCore

/// Holds back what arrives until it is removed, for example while the handler behind it is being replaced.
final class HeldReads: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = NIOAny
  typealias InboundOut = NIOAny

  private enum Held {
    case read(NIOAny)
    case readComplete
    case event(Any)
  }

  private var held: [Held] = []

  func channelRead(context: ChannelHandlerContext, data: NIOAny) { held.append(.read(data)) }

  func channelReadComplete(context: ChannelHandlerContext) { held.append(.readComplete) }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) { held.append(.event(event)) }

  func removeHandler(context: ChannelHandlerContext, removalToken: ChannelHandlerContext.RemovalToken) {
    var next = 0
    // More can arrive while this is passed on.
    while next < held.count {
      switch held[next] {
      case .read(let data): context.fireChannelRead(data)
      case .readComplete: context.fireChannelReadComplete()
      case .event(let event): context.fireUserInboundEventTriggered(event)
      }
      next += 1
    }
    held = []
    context.leavePipeline(removalToken: removalToken)
  }
}

@available(*, unavailable)
extension HeldReads: Sendable {}
