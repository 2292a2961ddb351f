import ChatPrimitives
import ChatService
import NIOCore
import NIOEmbedded
import NIOWebSocket
import SocketProtocols
import Testing

@testable import ChatServer

/// A WebSocket after its handshake, on an event loop whose time moves only if a test advances it.
private final class Socket {
  let channel = EmbeddedChannel()
  let application: RecordingApplication

  init(_ application: RecordingApplication = RecordingApplication()) throws {
    self.application = application
    let frames = CountedFrameDecoder(longestFrame: 128)
    let handler = WebSocketHandler(.small, frames, nil, on: channel.eventLoop)
    try channel.pipeline.syncOperations.addHandlers([ByteToMessageHandler(frames), handler])
    try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    handler.open(application)
  }

  var isOpen: Bool { channel.isActive }

  func wait(seconds: Int64) { channel.embeddedEventLoop.advanceTime(by: .seconds(seconds)) }

  func send(_ bytes: ByteBuffer) throws { try channel.writeInbound(bytes) }

  /// Everything that was sent to the client since the last call.
  func received() throws -> [UInt8] {
    var bytes: [UInt8] = []
    while let part = try channel.readOutbound(as: ByteBuffer.self) { bytes += part.readableBytesView }
    return bytes
  }

  func setWritable(_ isWritable: Bool) {
    channel.isWritable = isWritable
    channel.pipeline.fireChannelWritabilityChanged()
  }
}

@Suite("A WebSocket")
struct WebSocketHandlerSpecs {
  private static let ping = WebSocketFrames.encode(.ping, [])

  private static func close(_ code: WebSocketCloseCode) -> [UInt8] { WebSocketClose(code).frame }

  @Test("delivers messages without their masks, whatever their length")
  func lengths() throws {
    let socket = try Socket()
    for length in 0...64 {
      let text = String("The quick brown fox jumps over the lazy dog and does it once more".prefix(length))
      try socket.send(ClientFrames.text(text))
      #expect(socket.application.calls.last == .text(text))
    }
    #expect(socket.application.calls.count == 66)
  }

  @Test("that breaks a rule is told the code and closed")
  func failures() throws {
    let unmasked = ByteBuffer(bytes: [0x81, 0])
    let tooLong = ByteBuffer(bytes: [0x82, 0xfe, 0, 129])
    let fragmentedPing = ByteBuffer(bytes: [0x09, 0x80])
    let longPing = ByteBuffer(bytes: [0x89, 0xfe, 0, 126])
    let cases: [(ByteBuffer, WebSocketFailure, WebSocketCloseCode)] = [
      (unmasked, .unmasked, .protocolError), (tooLong, .messageTooLarge, .messageTooBig),
      (fragmentedPing, .fragmentedControl, .protocolError),
      (longPing, .controlTooLong(bytes: 126), .protocolError),
      (ClientFrames.encode(.text, [0xff]), .invalidUTF8, .invalidData),
    ]
    for (bytes, failure, code) in cases {
      let socket = try Socket()
      try? socket.send(bytes)
      #expect(socket.application.calls == [.opened, .failed(failure), .closed(.failed)])
      #expect(try socket.received() == Self.close(code))
      try? socket.send(ClientFrames.text("late"))
      socket.wait(seconds: 1)
      #expect(!socket.isOpen)
      #expect(socket.application.calls.count == 3)
    }
  }

  @Test("whose client sends too many pings and pongs is closed")
  func controlFrames() throws {
    let socket = try Socket()
    for _ in 0..<Limits.controlFrames { try socket.send(ClientFrames.encode(.ping, [])) }
    socket.wait(seconds: 1)
    for _ in 0..<Limits.controlFramesPerSecond { try socket.send(ClientFrames.encode(.pong, [])) }
    #expect(socket.application.calls == [.opened])
    try socket.send(ClientFrames.encode(.pong, []))
    #expect(socket.application.calls == [.opened, .failed(.tooManyControlFrames), .closed(.failed)])
    let close = WebSocketClose(.policyViolation, reason: "too_many_commands").frame
    #expect(try Array(socket.received().suffix(close.count)) == close)
  }

  @Test("that is closed by its client gets the code back and is told so once")
  func closedByClient() throws {
    let socket = try Socket()
    let close = WebSocketClose(.goingAway, reason: "bye")
    try socket.send(ClientFrames.encode(.close, close.payload))
    #expect(try socket.received() == Self.close(.goingAway))
    socket.application.socket?.send(.text([]))
    socket.wait(seconds: 1)
    #expect(!socket.isOpen)
    #expect(socket.application.calls == [.opened, .closed(.closed(close))])
    #expect(try socket.received().isEmpty)
  }

  @Test("sends what was sent before the close, and nothing after it")
  func closedByServer() throws {
    let socket = try Socket()
    let server = try #require(socket.application.socket)
    server.send(.text([0x61]))
    server.close(.policyViolation, reason: "why")
    server.send(.text([0x62]))
    #expect(
      try socket.received()
        == WebSocketMessage.text([0x61]).frame + WebSocketClose(.policyViolation, reason: "why").frame)
    socket.wait(seconds: 5)
    #expect(socket.application.calls == [.opened, .closed(.unansweredClose)])
    socket.wait(seconds: 1)
    #expect(!socket.isOpen)
  }

  @Test("whose connection is lost is told so once")
  func lost() throws {
    let socket = try Socket()
    socket.channel.close(promise: nil)
    #expect(socket.application.calls == [.opened, .closed(.disconnected)])
    let closedInOneDirection = try Socket()
    closedInOneDirection.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
    #expect(closedInOneDirection.application.calls == [.opened, .closed(.disconnected)])
    #expect(!closedInOneDirection.isOpen)
  }

  @Test("is pinged, and closed if it stays silent")
  func silence() throws {
    let socket = try Socket()
    socket.wait(seconds: 25)
    #expect(try socket.received() == Self.ping)
    try socket.send(ClientFrames.encode(.pong, []))
    socket.wait(seconds: 59)
    #expect(try socket.received() == Self.ping + Self.ping)
    #expect(socket.application.calls == [.opened])
    socket.wait(seconds: 1)
    #expect(socket.application.calls == [.opened, .closed(.silent)])
  }

  @Test("is not silent while the server does not read")
  func pausedSilence() throws {
    let socket = try Socket()
    let server = try #require(socket.application.socket)
    server.pauseReading()
    socket.wait(seconds: 200)
    #expect(socket.application.calls == [.opened])
    server.resumeReading()
    socket.wait(seconds: 60)
    #expect(socket.application.calls == [.opened, .closed(.silent)])
  }

  @Test("delivers nothing while reading is paused, then everything in order, also if it pauses again")
  func paused() throws {
    let socket = try Socket(
      RecordingApplication { message, socket in if message.bytes.first == 0x70 { socket.pauseReading() } })
    let server = try #require(socket.application.socket)
    var bytes = ClientFrames.text("a")
    for text in ["p1", "b", "p2", "c", "d"] { bytes.writeImmutableBuffer(ClientFrames.text(text)) }
    try socket.send(bytes)
    #expect(socket.application.calls == [.opened, .text("a"), .text("p1")])
    server.resumeReading()
    #expect(socket.application.calls.suffix(2) == [.text("b"), .text("p2")])
    try socket.send(ClientFrames.text("e"))
    server.resumeReading()
    #expect(socket.application.calls.suffix(3) == [.text("c"), .text("d"), .text("e")])
  }

  @Test("reads nothing while it is paused or its client does not read")
  func backPressure() throws {
    let socket = try Socket()
    let server = try #require(socket.application.socket)
    let reads = ReadCounter()
    try socket.channel.pipeline.syncOperations.addHandler(reads, position: .first)
    socket.channel.read()
    #expect(reads.count == 1)
    server.pauseReading()
    socket.channel.read()
    socket.setWritable(false)
    server.resumeReading()
    #expect(reads.count == 1)
    socket.setWritable(true)
    #expect(reads.count == 2)
    server.pauseReading()
    socket.channel.read()
    server.close(.normal)
    #expect(reads.count == 3)
  }

  @Test("that was detached reads by itself, and stays open when the task of Hummingbird ends")
  func detached() throws {
    let socket = try Socket()
    let reads = ReadCounter()
    try socket.channel.pipeline.syncOperations.addHandler(reads, position: .first)
    try socket.channel.pipeline.syncOperations.handler(type: WebSocketHandler.self).detach()
    try socket.send(ClientFrames.text("a"))
    #expect(reads.count == 1)
    socket.channel.close(mode: .output, promise: nil)
    socket.channel.close(promise: nil)
    try socket.send(ClientFrames.text("b"))
    #expect(socket.isOpen)
    #expect(socket.application.calls == [.opened, .text("a"), .text("b")])
    socket.channel.close(promise: nil)
    #expect(!socket.isOpen)
  }

  @Test("says when its client has taken what was written, or takes too long")
  func writable() throws {
    let socket = try Socket()
    let loop = socket.channel.embeddedEventLoop
    func waiting() -> EventLoopFuture<Void> {
      let promise = loop.makePromise(of: Void.self)
      socket.channel.triggerUserOutboundEvent(WritableWatch.ofStream, promise: promise)
      return promise.futureResult
    }
    try waiting().wait()
    socket.setWritable(false)
    let both = [waiting(), waiting()]
    socket.setWritable(true)
    for one in both { try one.wait() }
    socket.setWritable(false)
    let tooLong = waiting()
    socket.wait(seconds: Limits.streamSendSeconds)
    #expect(throws: SlowReader.self) { try tooLong.wait() }
    let gone = waiting()
    socket.channel.close(promise: nil)
    #expect(throws: ChannelError.ioOnClosedChannel) { try gone.wait() }
  }

  @Test("is closed when the server stops, after the time that its application takes")
  func stop() throws {
    let socket = try Socket()
    socket.channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
    #expect(try socket.received() == Self.close(.goingAway))
    let patient = try Socket(RecordingApplication(patience: .seconds(3)))
    patient.channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
    patient.wait(seconds: 2)
    #expect(try patient.received().isEmpty)
    patient.application.socket?.send(.text([]))
    patient.wait(seconds: 1)
    #expect(try patient.received() == WebSocketMessage.text([]).frame + Self.close(.goingAway))
  }
}
