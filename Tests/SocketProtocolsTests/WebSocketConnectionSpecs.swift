import Testing

@testable import SocketProtocols

/// Holds the value, because an expectation cannot change one.
private final class ConnectionUnderTest {
  private(set) var value: WebSocketConnection

  init(limits: WebSocketConnection.Limits) {
    value = WebSocketConnection(limits: limits, now: .zero)
  }

  func perform(_ input: (inout WebSocketConnection) -> [WebSocketConnection.Action]) -> [WebSocketConnection.Action] {
    input(&value)
  }
}

@Suite struct WebSocketConnectionSpecs {
  private static let limits = WebSocketConnection.Limits(
    messages: .small, pingInterval: .seconds(25), silence: .seconds(60), closing: .seconds(5))

  private let connection = ConnectionUnderTest(limits: limits)

  private func receive(_ frame: ClientFrame, at now: Duration = .zero) -> [WebSocketConnection.Action] {
    connection.perform { $0.receive(frame.header, payload: frame.payload, now: now) }
  }

  private func close(
    _ code: WebSocketCloseCode, reason: String = "", at now: Duration = .zero
  ) -> [WebSocketConnection.Action] {
    connection.perform { $0.close(code, reason: reason, now: now) }
  }

  private func tick(_ now: Duration) -> [WebSocketConnection.Action] { connection.perform { $0.tick(now: now) } }

  private func written(_ close: WebSocketClose) -> WebSocketConnection.Action { .write(close.frame) }

  @Test("messages are delivered and each ping gets its pong")
  func messages() {
    #expect(receive(.text("hi")) == [.deliver(.text(utf8("hi")))])
    #expect(receive(ClientFrame(.ping, "1")) == [.write(WebSocketFrames.encode(.pong, utf8("1")))])
    #expect(receive(ClientFrame(.ping, "2")) == [.write(WebSocketFrames.encode(.pong, utf8("2")))])
    #expect(receive(ClientFrame(.pong, "unasked")).isEmpty)
  }

  @Test("the client's close frame gets the same code back")
  func clientCloses() {
    let theirs = WebSocketClose(.goingAway, reason: "bye")
    #expect(
      receive(ClientFrame(.close, theirs.payload)) == [written(WebSocketClose(.goingAway)), .end(.closed(theirs))])
    #expect(!connection.value.isWritable)
    #expect(receive(.text("late")).isEmpty)
    #expect(close(.normal).isEmpty)
  }

  @Test("an empty close frame gets an empty one back")
  func emptyClose() {
    #expect(receive(ClientFrame(.close)) == [written(.empty), .end(.closed(.empty))])
  }

  @Test("the server's close frame waits for the client's; what comes before it is dropped")
  func serverCloses() {
    #expect(
      close(.goingAway, reason: "shutting_down")
        == [written(WebSocketClose(.goingAway, reason: "shutting_down"))])
    #expect(!connection.value.isWritable)
    #expect(receive(.text("crossing")).isEmpty)
    #expect(receive(ClientFrame(.ping)).isEmpty)
    let theirs = WebSocketClose(.goingAway)
    #expect(receive(ClientFrame(.close, theirs.payload)) == [.end(.closed(theirs))])
  }

  @Test("a client that does not respond to the close frame is cut off")
  func unansweredClose() {
    _ = close(.normal, at: .seconds(1))
    #expect(connection.value.deadline == .seconds(6))
    #expect(tick(.seconds(6) - .milliseconds(1)).isEmpty)
    #expect(tick(.seconds(6)) == [.end(.unansweredClose)])
    #expect(tick(.seconds(7)).isEmpty)
  }

  @Test("after a failure the caller can still write, and its close frame is the last")
  func failure() {
    #expect(receive(ClientFrame(.text, [0xff])) == [.failed(.invalidUTF8)])
    #expect(connection.value.isWritable)
    #expect(receive(.text("ignored")).isEmpty)
    #expect(
      close(.invalidData, reason: "invalid_frame")
        == [written(WebSocketClose(.invalidData, reason: "invalid_frame")), .end(.failed)])
    #expect(!connection.value.isWritable)
  }

  @Test("a failure while the close frame is awaited ends the connection")
  func failureWhileClosing() {
    _ = close(.normal)
    #expect(receive(ClientFrame(.close, [3])) == [.end(.failed)])
    #expect(receive(ClientFrame(.close)).isEmpty)
  }

  @Test("a failure of the frame codec while the close frame is awaited ends the connection")
  func codecFailureWhileClosing() {
    _ = close(.normal)
    #expect(connection.perform { $0.fail(.messageTooLarge) } == [.end(.failed)])
    #expect(connection.perform { $0.fail(.messageTooLarge) }.isEmpty)
  }

  @Test("the frame codec's own failure is one too")
  func codecFailure() {
    #expect(connection.perform { $0.fail(.messageTooLarge) } == [.failed(.messageTooLarge)])
    #expect(connection.perform { $0.fail(.messageTooLarge) }.isEmpty)
  }

  @Test("a ping is sent at its interval, once even if ticks were late")
  func pings() {
    let ping = WebSocketConnection.Action.write(WebSocketFrames.encode(.ping, []))
    #expect(connection.value.deadline == .seconds(25))
    #expect(tick(.seconds(24)).isEmpty)
    #expect(tick(.seconds(25)) == [ping])
    #expect(tick(.seconds(26)).isEmpty)
    #expect(receive(ClientFrame(.pong), at: .seconds(50)).isEmpty)
    #expect(tick(.seconds(101)) == [ping])
    #expect(tick(.seconds(102)).isEmpty)
    #expect(connection.value.deadline == .seconds(110))
  }

  @Test("any frame breaks the silence; without one the connection ends")
  func silence() {
    #expect(receive(ClientFrame(.pong), at: .seconds(10)).isEmpty)
    #expect(tick(.seconds(70) - .milliseconds(1)).contains(.end(.silent)) == false)
    #expect(tick(.seconds(70)) == [.end(.silent)])
    #expect(connection.value.deadline == nil)
  }

  @Test("nobody is silent while the caller does not read")
  func unreadSilence() {
    #expect(connection.perform { $0.tick(now: .seconds(100), isReading: false) }.contains(.end(.silent)) == false)
    #expect(tick(.seconds(159)).contains(.end(.silent)) == false)
    #expect(tick(.seconds(160)) == [.end(.silent)])
  }

  @Test("a protocol above can do without pings")
  func noPings() {
    var limits = Self.limits
    (limits.pingInterval, limits.silence) = (nil, nil)
    let connection = ConnectionUnderTest(limits: limits)
    #expect(connection.value.deadline == nil)
    #expect(connection.perform { $0.tick(now: .seconds(1000)) }.isEmpty)
  }
}
