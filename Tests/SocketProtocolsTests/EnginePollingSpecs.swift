import Testing

@testable import SocketProtocols

@Suite struct EnginePollingSpecs {
  private let engine = EngineUnderTest()

  @Test("the handshake names the ID, the upgrade and the limits")
  func handshake() {
    let json =
      "{\"sid\":\"AAAAAAAAAAAAAAAAAAAAAA\",\"upgrades\":[\"websocket\"],\"pingInterval\":300,\"pingTimeout\":200,"
      + "\"maxPayload\":1000000}"
    #expect(engine.opening == [.answer("0" + json)])
  }

  // MARK: Messages

  @Test("a POST delivers its messages in order")
  func post() {
    #expect(
      engine.post("4test1\u{1e}4test2\u{1e}bAQIDBA==")
        == [.deliver("test1"), .deliver("test2"), .deliver(.binary([1, 2, 3, 4])), .answerPost])
  }

  @Test("a GET gets what was sent before it")
  func bufferedPackets() {
    #expect(engine.send("test1", "test2").isEmpty)
    #expect(engine.send(binary: [1, 2, 3, 4]).isEmpty)
    #expect(engine.poll() == [.answer("4test1\u{1e}4test2\u{1e}bAQIDBA==")])
  }

  @Test("a GET waits for the first packet")
  func waitingPoll() {
    #expect(engine.poll().isEmpty)
    #expect(engine.send("hello") == [.answer("4hello")])
    #expect(engine.send("next").isEmpty)
    #expect(engine.poll() == [.answer("4next")])
  }

  @Test("a response has at most 16 packets, and the next GET gets the rest", arguments: [15, 16, 17, 33])
  func packetsPerPoll(count: Int) {
    for number in 0..<count { _ = engine.send("\(number)") }
    var found: [String] = []
    for first in stride(from: 0, to: count, by: 16) {
      let expected = (first..<min(first + 16, count)).map { "4\($0)" }
      #expect(engine.poll() == [.answer(expected.joined(separator: "\u{1e}"))])
      found += expected
    }
    #expect(found.count == count)
    #expect(engine.poll().isEmpty)
  }

  @Test("what waits has a limit of bytes, as they would be sent")
  func bufferLimit() {
    // With the type and the separator, a message of 498 bytes counts 500.
    let half = String(repeating: "x", count: 498)
    #expect(engine.send(half, half).isEmpty)
    #expect(engine.send("") == [.ended(.bufferFull), .forget])
  }

  @Test("packets that do not count can be longer than the buffer, and a ping and others still fit behind them")
  func uncounted() {
    let page = String(repeating: "x", count: 5_000)
    #expect(engine.session.isBufferEmpty)
    #expect(engine.send(uncounted: page).isEmpty)
    #expect(!engine.session.isBufferEmpty)
    #expect(engine.send(String(repeating: "y", count: 998)).isEmpty)
    #expect(engine.tick(at: 300).isEmpty)
    #expect(engine.poll() == [.answer("4\(page)\u{1e}4\(String(repeating: "y", count: 998))\u{1e}2")])
    #expect(engine.session.isBufferEmpty)
    #expect(engine.send(uncounted: page).isEmpty)
    #expect(engine.send(String(repeating: "y", count: 999)) == [.ended(.bufferFull), .forget])
  }

  @Test("room in the buffer comes back as packets are fetched")
  func bufferIsReused() {
    for _ in 0..<50 {
      #expect(engine.send(String(repeating: "x", count: 900)).isEmpty)
      #expect(engine.poll().count == 1)
    }
  }

  // MARK: Requests that end the session

  @Test(
    "a malformed POST delivers nothing and ends the session", arguments: ["abc", "", "4fine\u{1e}x", "4fine\u{1e}2"])
  func malformedPost(body: String) {
    let actions = engine.post(body)
    #expect(actions.last == .refusePost(.badRequest))
    #expect(!actions.contains(.deliver("fine")))
    #expect(actions.contains(.forget))
    #expect(engine.poll() == [.refusePoll(.unknownSession)])
  }

  @Test("a client cannot ping, open or upgrade by POST", arguments: ["2", "2probe", "0{}", "5"])
  func wrongDirection(body: String) {
    #expect(
      engine.post(body) == [.ended(.malformed(.unexpectedPacket)), .forget, .refusePost(.badRequest)])
  }

  @Test("the body of a POST has its limits")
  func postLimits() {
    let packets = [String](repeating: "4", count: 101).joined(separator: "\u{1e}")
    #expect(engine.post(packets).first == .ended(.malformed(.tooManyPackets)))
    let other = EngineUnderTest()
    #expect(other.post("4" + String(repeating: "x", count: 999_999)).last == .answerPost)
    #expect(other.post("4" + String(repeating: "x", count: 1_000_000)).first == .ended(.malformed(.payloadTooLarge)))
  }

  @Test("a POST that is too long is not read to its end, and ends the session")
  func longPost() {
    #expect(engine.beginPost().isEmpty)
    #expect(engine.postTooLarge() == [.ended(.malformed(.payloadTooLarge)), .forget, .refusePost(.badRequest)])
    #expect(engine.postTooLarge() == [.refusePost(.unknownSession)])
  }

  @Test("a second GET ends the session: the first gets a close packet, the second an error")
  func duplicatePoll() {
    _ = engine.poll()
    #expect(engine.poll() == [.answer("1"), .ended(.duplicatePoll), .forget, .refusePoll(.badRequest)])
    #expect(engine.poll() == [.refusePoll(.unknownSession)])
  }

  @Test("a second POST ends the session, and the body of the first is refused")
  func duplicatePost() {
    #expect(engine.beginPost().isEmpty)
    #expect(engine.beginPost() == [.ended(.duplicatePost), .forget, .refusePost(.badRequest)])
    #expect(engine.body("4late") == [.refusePost(.unknownSession)])
  }

  @Test("one POST after the other is fine")
  func sequentialPosts() {
    for _ in 0..<3 { #expect(engine.post("4a") == [.deliver("a"), .answerPost]) }
  }

  @Test("a client that leaves within a request ends the session")
  func cancelled() {
    _ = engine.poll()
    #expect(engine.pollCancelled() == [.ended(.requestCancelled), .forget])
    #expect(engine.poll() == [.refusePoll(.unknownSession)])
    let other = EngineUnderTest()
    _ = other.beginPost()
    #expect(other.postCancelled() == [.ended(.requestCancelled), .forget])
  }

  @Test("a cancellation that comes too late changes nothing")
  func lateCancellation() {
    _ = engine.poll()
    _ = engine.send("answered")
    #expect(engine.pollCancelled().isEmpty)
    #expect(engine.post("4a").last == .answerPost)
    #expect(engine.postCancelled().isEmpty)
    #expect(engine.session.isOpen)
  }

  // MARK: Closing

  @Test("a close packet ends the client's own GET with a noop packet")
  func clientCloses() {
    _ = engine.poll()
    #expect(engine.post("1") == [.answer("6"), .ended(.closedByClient), .forget, .answerPost])
    #expect(engine.poll() == [.refusePoll(.unknownSession)])
  }

  @Test("a GET that the POST with the close packet overtook gets the same, once")
  func overtakenPoll() {
    #expect(engine.post("1") == [.ended(.closedByClient), .answerPost])
    #expect(engine.beginPost() == [.refusePost(.unknownSession)])
    #expect(engine.socketOpened() == [.refuseSocket(.unknownSession)])
    #expect(engine.poll() == [.answer("6"), .forget])
    #expect(engine.poll() == [.refusePoll(.unknownSession)])
  }

  @Test("a session that nobody polls any more is forgotten")
  func forgotten() {
    _ = engine.post("1")
    #expect(engine.session.deadline == .milliseconds(100))
    #expect(engine.tick(at: 99).isEmpty)
    #expect(engine.tick(at: 100) == [.forget])
    #expect(engine.session.deadline == nil)
  }

  @Test("packets after a close packet are ignored")
  func afterClose() {
    #expect(engine.post("4a\u{1e}1\u{1e}4b") == [.deliver("a"), .ended(.closedByClient), .answerPost])
  }

  @Test("when the server closes, the client can still fetch everything, and then a close packet")
  func serverCloses() {
    for number in 0..<17 { _ = engine.send("\(number)") }
    #expect(engine.close() == [.ended(.closedByServer)])
    #expect(engine.send("late").isEmpty)
    #expect(engine.poll() == [.answer((0..<16).map { "4\($0)" }.joined(separator: "\u{1e}"))])
    #expect(engine.poll() == [.answer("416\u{1e}1"), .forget])
    #expect(engine.close().isEmpty)
  }

  @Test("when the server closes, a pending GET gets the close packet")
  func serverClosesPendingPoll() {
    _ = engine.poll()
    #expect(engine.close() == [.answer("1"), .ended(.closedByServer), .forget])
  }
}
