import Testing

@testable import SocketProtocols

@Suite struct EngineHeartbeatSpecs {
  @Test("a pending GET gets a ping at each interval after the last pong")
  func polling() {
    let engine = EngineUnderTest()
    for _ in 0..<3 {
      #expect(engine.poll().isEmpty)
      let due = engine.now + 300
      #expect(engine.session.deadline == .milliseconds(due))
      #expect(engine.tick(at: due - 1).isEmpty)
      #expect(engine.tick(at: due) == [.answer("2")])
      engine.now += 50
      #expect(engine.post("3") == [.answerPost])
    }
  }

  @Test("a WebSocket gets a ping at each interval after the last pong")
  func socket() {
    let engine = EngineUnderTest(.websocket)
    for _ in 0..<3 {
      #expect(engine.tick(at: engine.now + 300) == [.write("2")])
      engine.now += 50
      #expect(engine.socket("3").isEmpty)
    }
  }

  @Test("without a pong the session ends, and the WebSocket is closed")
  func socketTimeout() {
    let engine = EngineUnderTest(.websocket)
    _ = engine.tick(at: 300)
    #expect(engine.tick(at: 499).isEmpty)
    #expect(engine.tick(at: 500) == [.closeSocket, .ended(.pingTimeout), .forget])
    #expect(engine.tick(at: 1000).isEmpty)
  }

  @Test(
    "a client that has no GET pending is gone after interval and timeout, whenever ticks run", arguments: [false, true])
  func absentClient(ticks: Bool) {
    let engine = EngineUnderTest()
    if ticks { #expect(engine.tick(at: 300).isEmpty) }
    engine.now = 500
    #expect(engine.poll() == [.ended(.pingTimeout), .forget, .refusePoll(.unknownSession)])
  }

  @Test("a GET just in time gets the ping, and the pong still has to come")
  func latePoll() {
    let engine = EngineUnderTest()
    engine.now = 499
    #expect(engine.poll() == [.answer("2")])
    #expect(engine.tick(at: 500) == [.ended(.pingTimeout), .forget])
  }

  @Test("a late tick does not shorten the time of a client that waits")
  func lateTick() {
    let engine = EngineUnderTest()
    _ = engine.poll()
    #expect(engine.tick(at: 1000) == [.answer("2")])
    #expect(engine.tick(at: 1199).isEmpty)
    engine.now = 1199
    #expect(engine.post("3") == [.answerPost])
    #expect(engine.session.deadline == .milliseconds(1499))
  }

  @Test("a pong that no ping asked for does not put off the next ping")
  func unaskedPong() {
    let engine = EngineUnderTest(.websocket)
    engine.now = 299
    #expect(engine.socket("3").isEmpty)
    #expect(engine.tick(at: 300) == [.write("2")])
  }

  @Test("messages are no pongs")
  func messagesAreNoPongs() {
    let engine = EngineUnderTest(.websocket)
    _ = engine.tick(at: 300)
    engine.now = 499
    #expect(engine.socket("4alive") == [.deliver("alive")])
    #expect(engine.tick(at: 500).contains(.ended(.pingTimeout)))
  }
}
