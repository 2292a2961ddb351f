import ChatPrimitives
import ChatService
import NIOCore
import NIOEmbedded
import SocketProtocols
import Testing

@testable import ChatServer

/// WebSockets of one address, which may hold 100 bytes of unfinished messages together.
private struct Address {
  let log = CapturedLog()
  let bodies = BodyBudget(bytesOfAddress: 100)
  /// 60 bytes have 16 seconds.
  let connections: ConnectionSettings

  init() {
    var settings = ConnectionSettings()
    (settings.bodySeconds, settings.bodyBytesPerSecond) = (10, 10)
    connections = settings
  }

  func open(longestMessage: Int = .max) throws -> (EmbeddedChannel, RecordingApplication) {
    let (channel, application) = (EmbeddedChannel(), RecordingApplication(longestMessage: longestMessage))
    let frames = CountedFrameDecoder(longestFrame: 128)
    let address = try #require(NetworkAddress("10.0.0.1"))
    let limits = UnfinishedLimits(bodies: bodies, connections: connections)
    let unfinished = UnfinishedBytes(limits, of: address, log.logger)
    let handler = WebSocketHandler(.small, frames, unfinished, on: channel.eventLoop)
    try channel.pipeline.syncOperations.addHandlers([ByteToMessageHandler(frames), handler])
    try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    handler.open(application)
    return (channel, application)
  }

  /// Whether the address may hold this many bytes more.
  func hasRoom(_ bytes: Int) throws -> Bool {
    let charge = bodies.charge(for: try #require(NetworkAddress("10.0.0.1")), log.logger)
    return (try? charge.add(bytes)) != nil
  }
}

@Suite("What a WebSocket holds of unfinished messages")
struct UnfinishedBytesSpecs {
  private static let bytes = [UInt8](repeating: 0x61, count: 60)
  /// The beginnings of a message, each with 60 bytes.
  private static let fragment = ClientFrames.encode(.text, bytes, isFinal: false)
  private static let partOfFrame = ByteBuffer(bytes: [0x81, 0x80 | 64, 0, 0, 0, 0] + bytes)

  @Test("is charged to its address, until the message is complete or the connection ends")
  func charged() throws {
    for beginning in [Self.fragment, Self.partOfFrame] {
      let address = Address()
      let (socket, _) = try address.open()
      try socket.writeInbound(beginning)
      #expect(try address.hasRoom(40))
      #expect(try !address.hasRoom(41))
      socket.close(promise: nil)
      #expect(try address.hasRoom(100))
    }
    let address = Address()
    let (socket, application) = try address.open()
    try socket.writeInbound(Self.fragment)
    try socket.writeInbound(ClientFrames.encode(.continuation, [0x61]))
    #expect(application.calls.last == .received(.text(Self.bytes + [0x61])))
    #expect(try address.hasRoom(100))
  }

  @Test("ends the connection that holds too much; the others go on")
  func overBudget() throws {
    for beginning in [Self.fragment, Self.partOfFrame] {
      let address = Address()
      let (first, kept) = try address.open()
      let (second, ended) = try address.open()
      try first.writeInbound(beginning)
      try second.writeInbound(beginning)
      #expect(ended.calls == [.opened, .failed(.overBudget), .closed(.failed)])
      let close = try #require(try second.readOutbound(as: ByteBuffer.self))
      #expect(Array(close.readableBytesView) == WebSocketClose(.tryAgainLater, reason: "overloaded").frame)
      #expect(address.log.lines.compactMap { $0.metadata["address"] } == ["10.0.0.1"])
      #expect(kept.calls == [.opened])
      #expect(try address.hasRoom(40))
    }
  }

  @Test("must be complete in time, whatever else its client sends; each message has its own time")
  func slow() throws {
    for beginning in [Self.fragment, Self.partOfFrame] {
      let (socket, application) = try Address().open()
      let loop = socket.embeddedEventLoop
      try socket.writeInbound(beginning)
      loop.advanceTime(by: .seconds(15))
      #expect(application.calls == [.opened])
      loop.advanceTime(by: .seconds(1))
      #expect(application.calls == [.opened, .failed(.messageTooSlow), .closed(.failed)])
    }
    let (socket, application) = try Address().open()
    for _ in 0..<3 {
      try socket.writeInbound(Self.fragment)
      socket.embeddedEventLoop.advanceTime(by: .seconds(15))
      try socket.writeInbound(ClientFrames.encode(.ping, []))
      try socket.writeInbound(ClientFrames.encode(.continuation, [0x61]))
      #expect(application.calls.last == .received(.text(Self.bytes + [0x61])))
    }
    try socket.writeInbound(Self.fragment)
    try socket.writeInbound(ClientFrames.encode(.continuation, [0x61, 0x61, 0x61, 0x61], isFinal: false))
    socket.embeddedEventLoop.advanceTime(by: .milliseconds(16_399))
    #expect(application.calls.count == 4)
    socket.embeddedEventLoop.advanceTime(by: .milliseconds(1))
    #expect(application.calls.contains(.failed(.messageTooSlow)))
  }

  @Test("has its time again after the server has not read for a while")
  func paused() throws {
    let (socket, application) = try Address().open()
    let loop = socket.embeddedEventLoop
    socket.read()
    try socket.writeInbound(Self.fragment)
    application.socket?.pauseReading()
    socket.read()
    loop.advanceTime(by: .seconds(15))
    application.socket?.resumeReading()
    loop.advanceTime(by: .seconds(9))
    #expect(application.calls == [.opened])
    application.socket?.pauseReading()
    loop.advanceTime(by: .seconds(100))
    #expect(application.calls == [.opened])
    application.socket?.resumeReading()
    loop.advanceTime(by: .seconds(20))
    #expect(application.calls.contains(.failed(.messageTooSlow)))
  }

  @Test("is at most what the application takes", arguments: [(60, true), (59, false)])
  func longest(longestMessage: Int, isTaken: Bool) throws {
    for message in [Self.fragment, Self.partOfFrame, ClientFrames.encode(.text, Self.bytes)] {
      let (socket, application) = try Address().open(longestMessage: longestMessage)
      try socket.writeInbound(message)
      #expect(application.calls.contains(.failed(.messageTooLarge)) == !isTaken)
    }
  }
}
