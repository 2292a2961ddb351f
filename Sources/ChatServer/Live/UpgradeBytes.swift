import NIOCore

/// A handler before NIO's HTTP decoder. The decoder keeps what arrives behind a request with `Upgrade` without parsing it,
/// and drops it when it is removed, so such bytes must not reach it.
final class UpgradeBytes: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  enum Mode {
    case passing
    /// Until it is decided who reads the bytes. They are few, because reading has stopped.
    case holding
    case dropping
  }

  var mode = Mode.passing
  private var held: [ByteBuffer] = []
  /// The last four bytes that were passed on.
  private var tail: UInt32 = 0

  /// Whether the bytes that were passed on end like a head. If not, something followed the head.
  var endsWithHead: Bool { tail == Self.endOfHead }
  /// Two line ends.
  private static let endOfHead: UInt32 = 0x0d0a_0d0a

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch mode {
    case .passing:
      let buffer = unwrapInboundIn(data)
      for byte in buffer.readableBytesView.suffix(MemoryLayout<UInt32>.size) { tail = tail << 8 | UInt32(byte) }
      context.fireChannelRead(data)
    case .holding: held.append(unwrapInboundIn(data))
    case .dropping: break
    }
  }

  /// Passes the held bytes on to the handler that is now behind this one.
  func handlerRemoved(context: ChannelHandlerContext) {
    let held = held
    self.held = []
    guard mode == .holding, !held.isEmpty, context.channel.isActive else { return }
    for buffer in held { context.fireChannelRead(wrapInboundOut(buffer)) }
    context.fireChannelReadComplete()
  }
}

@available(*, unavailable)
extension UpgradeBytes: Sendable {}
