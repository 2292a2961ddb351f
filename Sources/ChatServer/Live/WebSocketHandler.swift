import ChatPrimitives
import ChatProtocol
import ChatService
import NIOCore
import NIOHTTP1
import NIOWebSocket
import SocketProtocols

/// A handler behind NIO's frame decoder. It drives a `WebSocketConnection`, its one timer, and the application.
///
/// It reads only while the client takes what is written, so that a client that sends without reading cannot fill the
/// memory with responses.
final class WebSocketHandler: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = WebSocketFrame
  typealias OutboundIn = Never
  typealias OutboundOut = ByteBuffer

  private var connection: WebSocketConnection
  private let frames: CountedFrameDecoder
  /// Nil if only the size of unfinished messages is limited.
  private var unfinished: UnfinishedBytes?
  /// Nil before the handshake is complete, and after the application was told that the connection has ended.
  private var application: (any WebSocketApplication)?
  private var context: ChannelHandlerContext?
  private var timer: Scheduled<Void>?
  /// When the timer fires.
  private var timerDeadline = Duration.zero
  /// Frames that arrived while the application had paused reading.
  private var held = CircularBuffer<WebSocketFrame>(initialCapacity: 0)
  private var isPaused = false
  private var isDelivering = false
  /// The pipeline has asked for more bytes, which are not wanted yet.
  private var hasHeldRead = false
  /// Frames are written while a read is handled; they are flushed at its end.
  private var isHandlingRead = false
  /// The handlers behind this one no longer ask for bytes.
  private var isDetached = false
  private var closesOfTask = ClosesOfTask()
  private var writable = WritableWatches()
  private var controlFrames: FrameBudget

  /// - Parameter frames: the decoder in front of this handler.
  init(
    _ limits: WebSocketConnection.Limits, _ frames: CountedFrameDecoder, _ unfinished: UnfinishedBytes?,
    on eventLoop: any EventLoop
  ) {
    self.frames = frames
    self.unfinished = unfinished
    controlFrames = FrameBudget(at: eventLoop.now.uptimeNanosecondsSinceStart)
    connection = WebSocketConnection(limits: limits, now: Self.now(eventLoop))
  }

  private static func now(_ eventLoop: any EventLoop) -> Duration {
    .nanoseconds(Int64(clamping: eventLoop.now.uptimeNanosecondsSinceStart))
  }

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  func handlerRemoved(context: ChannelHandlerContext) {
    finish(.disconnected)
    self.context = nil
  }

  func channelInactive(context: ChannelHandlerContext) {
    finish(.disconnected)
    context.fireChannelInactive()
  }

  /// The handshake is complete, and frames can be written.
  func open(_ application: any WebSocketApplication) {
    guard let context else { return }
    self.application = application
    application.opened(WebSocketChannel(self, on: context.channel))
    arm()
  }

  /// The connection was detached from Hummingbird, whose task ends when the input is closed.
  func detach() {
    isDetached = true
    closesOfTask.expect()
    context?.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
  }

  func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    if closesOfTask.includes(mode) { promise?.succeed() } else { context.close(mode: mode, promise: promise) }
  }

  // MARK: Frames of the client

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let frame = unwrapInboundIn(data)
    guard application != nil else { return }
    isHandlingRead = true
    if isPaused || isDelivering || !held.isEmpty {
      held.append(frame)
    } else {
      deliver(frame)
    }
    drain()
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    countUnfinished()
    isHandlingRead = false
    context.flush()
    context.fireChannelReadComplete()
    if isDetached { read(context: context) }
  }

  private func drain() {
    while !isPaused, !isDelivering, let frame = held.popFirst() { deliver(frame) }
  }

  private func deliver(_ frame: WebSocketFrame) {
    guard let context else { return }
    isDelivering = true
    defer { isDelivering = false }
    if frame.opcode.isControlOpcode, !controlFrames.spend(1, at: context.eventLoop.now.uptimeNanosecondsSinceStart) {
      return perform(connection.fail(.tooManyControlFrames))
    }
    let now = Self.now(context.eventLoop)
    perform(connection.receive(WebSocketFrameHeader(frame), payload: frame.payload, now: now))
  }

  /// Counts what is held, and ends the connection if that is too much.
  private func countUnfinished() {
    guard let application, let context else { return }
    let message = frames.unfinishedBytes + connection.unfinishedBytes
    guard message <= application.longestMessage else { return perform(connection.fail(.messageTooLarge)) }
    do throws(ServiceError) {
      let waiting = held.reduce(0) { $0 + $1.data.readableBytes }
      try unfinished?.hold(message, waiting: waiting, at: Self.now(context.eventLoop))
    } catch {
      perform(connection.fail(.overBudget))
    }
    if message > 0 { arm() }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard let failure = (error as? NIOWebSocketError)?.failure else {
      context.fireErrorCaught(error)
      return
    }
    perform(connection.fail(failure))
  }

  // MARK: What the application does

  func send(_ frames: ByteBuffer) {
    guard application != nil, connection.isWritable else { return }
    write(frames)
  }

  func close(_ code: WebSocketCloseCode, reason: String) {
    guard let context, application != nil else { return }
    perform(connection.close(code, reason: reason, now: Self.now(context.eventLoop)))
    // The client's close frame may be behind messages, which are dropped now.
    resumeReading()
    arm()
  }

  /// Watches what is written to the client, as the `RequestGuard` does for responses.
  func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
    guard let watch = event as? WritableWatch, let promise else {
      context.triggerUserOutboundEvent(event, promise: promise)
      return
    }
    guard application != nil else { return promise.fail(ChannelError.ioOnClosedChannel) }
    writable.add(watch, promise, on: context.channel)
  }

  func pauseReading() { isPaused = connection.isWritable }

  func resumeReading() {
    isPaused = false
    if !held.isEmpty {
      drain()
      countUnfinished()
    }
    readIfWanted()
  }

  // MARK: Back pressure

  private var isReading: Bool { !isPaused && context?.channel.isWritable == true }

  func read(context: ChannelHandlerContext) {
    // What a connection sends after its end is discarded.
    if application == nil || isReading { context.read() } else { hasHeldRead = true }
  }

  /// Asks for the next bytes.
  func readNext() {
    if let context { read(context: context) }
  }

  private func readIfWanted() {
    guard hasHeldRead, application == nil || isReading else { return }
    hasHeldRead = false
    if let context { unfinished?.restart(at: Self.now(context.eventLoop)) }
    context?.read()
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    writable.update(context.channel)
    readIfWanted()
    context.fireChannelWritabilityChanged()
  }

  // MARK: Actions

  private func perform(_ actions: [WebSocketConnection.Action]) {
    for action in actions {
      switch action {
      case .deliver(let message): deliver(message)
      case .write(let bytes): write(ByteBuffer(bytes: bytes))
      case .failed(let failure):
        application?.failed(failure)
        close(failure.closeCode, reason: failure.code?.rawValue ?? "")
      case .end(let ending): finish(ending)
      }
    }
  }

  private func deliver(_ message: WebSocketMessage) {
    guard let application else { return }
    unfinished?.complete()
    guard message.bytes.count <= application.longestMessage else { return perform(connection.fail(.messageTooLarge)) }
    application.received(message)
  }

  private func write(_ bytes: ByteBuffer) {
    guard let context else { return }
    context.write(wrapOutboundOut(bytes), promise: nil)
    if !isHandlingRead { context.flush() }
  }

  /// The first ending counts.
  private func finish(_ ending: WebSocketEnding) {
    guard let application else { return }
    self.application = nil
    timer?.cancel()
    timer = nil
    held.removeAll()
    unfinished?.release()
    application.closed(ending)
    writable.fail(ChannelError.ioOnClosedChannel)
    if ending != .disconnected, let context { LingeringClose.begin(context) }
    readIfWanted()
  }

  // MARK: Events

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if event as? ChannelEvent == .inputClosed {
      // A WebSocket cannot be closed in one direction only.
      finish(.disconnected)
      context.close(promise: nil)
    }
    if event is ChannelShouldQuiesceEvent { stop(context) }
    context.fireUserInboundEventTriggered(event)
  }

  private func stop(_ context: ChannelHandlerContext) {
    guard let patience = application?.willStop() else { return }
    guard patience > .zero else {
      close(.goingAway, reason: "")
      return
    }
    context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(patience)) { self.close(.goingAway, reason: "") }
  }

  // MARK: Time

  /// A deadline that moves later leaves the timer in place.
  private func arm() {
    let deadlines = [connection.deadline, unfinished?.deadline].compactMap(\.self)
    guard let context, application != nil, let deadline = deadlines.min() else { return }
    if timer != nil, timerDeadline <= deadline { return }
    timer?.cancel()
    timerDeadline = deadline
    let remaining = TimeAmount(deadline - Self.now(context.eventLoop))
    timer = context.eventLoop.assumeIsolated().scheduleTask(in: remaining) { self.tick() }
  }

  private func tick() {
    timer = nil
    guard let context, application != nil else { return }
    let now = Self.now(context.eventLoop)
    if !isReading {
      unfinished?.restart(at: now)
    } else if let deadline = unfinished?.deadline, deadline <= now {
      perform(connection.fail(.messageTooSlow))
    }
    perform(connection.tick(now: now, isReading: isReading))
    arm()
  }
}

@available(*, unavailable)
extension WebSocketHandler: Sendable {}

extension WebSocketFrameHeader {
  fileprivate init(_ frame: WebSocketFrame) {
    let reserved: UInt8 = (frame.rsv1 ? 4 : 0) | (frame.rsv2 ? 2 : 0) | (frame.rsv3 ? 1 : 0)
    self.init(
      isFinal: frame.fin, reserved: reserved, opcode: UInt8(webSocketOpcode: frame.opcode),
      isMasked: frame.maskKey != nil)
  }
}

extension WebSocketFrame {
  /// The payload without its mask.
  fileprivate var payload: [UInt8] {
    var bytes = Array(data.readableBytesView)
    guard let maskKey else { return bytes }
    let key = Array(maskKey)
    bytes.withUnsafeMutableBytes { bytes in
      var index = 0
      let wide = UInt64(repeating: key)
      while bytes.count - index >= MemoryLayout<UInt64>.size {
        let value = bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
        bytes.storeBytes(of: value ^ wide, toByteOffset: index, as: UInt64.self)
        index += MemoryLayout<UInt64>.size
      }
      while index < bytes.count {
        bytes[index] ^= key[index % key.count]
        index += 1
      }
    }
    return bytes
  }
}

extension UInt64 {
  /// The four bytes twice, in the order of memory.
  fileprivate init(repeating key: [UInt8]) {
    let word = key.reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    self = (UInt64(word) << 32 | UInt64(word)).littleEndian
  }
}

extension WebSocketFailure {
  /// The reason in the close frame if the close code alone does not say which limit the client exceeded.
  fileprivate var code: ProblemCode? {
    switch self {
    case .overBudget: .overloaded
    case .tooManyControlFrames: .tooManyCommands
    case .unmasked, .reservedBits, .unknownOpcode, .fragmentedControl, .controlTooLong, .unexpectedContinuation,
      .interleavedMessage, .messageTooLarge, .tooManyFragments, .invalidUTF8, .malformedClose, .invalidCloseCode,
      .messageTooSlow:
      nil
    }
  }
}

extension NIOWebSocketError {
  fileprivate var failure: WebSocketFailure {
    switch self {
    case .invalidFrameLength: .messageTooLarge
    case .fragmentedControlFrame: .fragmentedControl
    case .multiByteControlFrameLength: .controlTooLong(bytes: WebSocketFrameHeader.controlBytes + 1)
    }
  }
}
