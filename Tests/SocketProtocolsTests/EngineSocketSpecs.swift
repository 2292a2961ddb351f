import Testing

@testable import SocketProtocols

@Suite struct EngineSocketSpecs {
  // MARK: WebSocket alone

  @Test("a WebSocket alone gets the handshake without upgrades as its first message")
  func handshake() throws {
    let engine = EngineUnderTest(.websocket)
    #expect(engine.opening.count == 1)
    guard case .write(.text(let text)) = try #require(engine.opening.first) else {
      Issue.record("no text is written")
      return
    }
    #expect(String(decoding: text, as: UTF8.self).contains("\"upgrades\":[],"))
  }

  @Test("messages go both ways at once")
  func messages() {
    let engine = EngineUnderTest(.websocket)
    #expect(engine.socket("4hello") == [.deliver("hello")])
    #expect(engine.perform { $0.socketMessage(.binary([1, 2]), now: $1) } == [.deliver(.binary([1, 2]))])
    #expect(engine.send("a", "b") == [.write("4a"), .write("4b")])
    #expect(engine.send(binary: [1, 2]) == [.write(.binary([1, 2]))])
  }

  @Test("a malformed or misplaced packet closes the WebSocket", arguments: ["abc", "", "2", "2probe", "5", "0{}"])
  func malformed(text: String) {
    let actions = EngineUnderTest(.websocket).socket(text)
    #expect(actions.first == .closeSocket)
    #expect(actions.last == .forget)
  }

  @Test("a close packet closes the WebSocket")
  func clientCloses() {
    #expect(EngineUnderTest(.websocket).socket("1") == [.closeSocket, .ended(.closedByClient), .forget])
  }

  @Test("the server closes the WebSocket")
  func serverCloses() {
    #expect(EngineUnderTest(.websocket).close() == [.closeSocket, .ended(.closedByServer), .forget])
  }

  @Test("a lost WebSocket ends the session")
  func lost() {
    let engine = EngineUnderTest(.websocket)
    #expect(engine.socketClosed() == [.ended(.socketClosed), .forget])
    #expect(engine.socketClosed().isEmpty)
  }

  @Test("a message has the limit of a payload")
  func tooLarge() {
    let engine = EngineUnderTest(.websocket)
    #expect(engine.socket("4" + String(repeating: "x", count: 999_999)).count == 1)
    #expect(
      engine.socket("4" + String(repeating: "x", count: 1_000_000))
        == [.closeSocket, .ended(.malformed(.payloadTooLarge)), .forget])
  }

  @Test("a session on a WebSocket takes no polling and no second WebSocket")
  func otherTransports() {
    let engine = EngineUnderTest(.websocket)
    #expect(engine.poll() == [.refusePoll(.badRequest)])
    #expect(engine.beginPost() == [.refusePost(.badRequest)])
    #expect(engine.socketOpened() == [.refuseSocket(.badRequest)])
    #expect(engine.socket("4hello") == [.deliver("hello")])
  }

  // MARK: The upgrade

  @Test("a probe is answered, and the pending GET ends with a noop packet")
  func upgrade() {
    let engine = EngineUnderTest()
    #expect(engine.poll().isEmpty)
    #expect(engine.socketOpened() == [.acceptSocket])
    #expect(engine.socket("2probe") == [.write("3probe"), .answer("6")])
    #expect(engine.socket("5").isEmpty)
    #expect(engine.socket("4hello") == [.deliver("hello")])
    #expect(engine.send("back") == [.write("4back")])
  }

  @Test("a GET after the probe ends at once")
  func pollAfterProbe() {
    let engine = EngineUnderTest.probed()
    #expect(engine.poll() == [.answer("6")])
    #expect(engine.poll() == [.answer("6")])
    #expect(engine.socket("5").isEmpty)
    #expect(engine.poll() == [.refusePoll(.badRequest)])
  }

  @Test("nothing is lost: packets within the upgrade go to a GET, or to the WebSocket after it")
  func packetsWithinUpgrade() {
    let engine = EngineUnderTest.probed()
    #expect(engine.send("1", "2").isEmpty)
    #expect(engine.poll() == [.answer("41\u{1e}42")])
    #expect(engine.send("3").isEmpty)
    #expect(engine.socket("5") == [.write("43")])
    #expect(engine.send("4") == [.write("44")])
  }

  @Test("a POST before the upgrade has finished is delivered")
  func postWithinUpgrade() {
    #expect(EngineUnderTest.probed().post("4a") == [.deliver("a"), .answerPost])
  }

  @Test("a POST whose body comes after the upgrade is refused, and the session goes on")
  func postAcrossUpgrade() {
    let engine = EngineUnderTest.probed()
    _ = engine.beginPost()
    _ = engine.socket("5")
    #expect(engine.body("4late") == [.refusePost(.badRequest)])
    #expect(engine.postCancelled().isEmpty)
    #expect(engine.socket("4a") == [.deliver("a")])
  }

  @Test("only one WebSocket is tested at a time")
  func secondSocket() {
    #expect(EngineUnderTest.probed().socketOpened() == [.refuseSocket(.badRequest)])
  }

  @Test(
    "a WebSocket that sends anything else is closed, and polling goes on",
    arguments: ["5", "4hello", "2", "abc", "3probe"])
  func failedProbe(text: String) {
    let engine = EngineUnderTest()
    _ = engine.poll()
    _ = engine.socketOpened()
    #expect(engine.socket(text) == [.closeSocket])
    #expect(engine.send("still") == [.answer("4still")])
    #expect(engine.socketOpened() == [.acceptSocket])
  }

  @Test("after the probe only the upgrade packet may follow", arguments: ["2probe", "4hello", "1"])
  func failedUpgrade(text: String) {
    let engine = EngineUnderTest.probed()
    #expect(engine.socket(text) == [.closeSocket])
    #expect(engine.session.isOpen)
    #expect(engine.poll().isEmpty)
  }

  @Test("an upgrade that takes too long is given up, and polling goes on")
  func slowUpgrade() {
    var limits = EngineLimits.conformance
    limits.upgradeTimeout = .milliseconds(100)
    let engine = EngineUnderTest(limits: limits)
    _ = engine.socketOpened()
    #expect(engine.session.deadline == .milliseconds(100))
    #expect(engine.tick(at: 99).isEmpty)
    #expect(engine.tick(at: 100) == [.closeSocket])
    #expect(engine.session.isOpen)
    #expect(engine.session.deadline == .milliseconds(300))
  }

  @Test("a WebSocket that is lost before the upgrade leaves the session polling")
  func lostProbe() {
    let engine = EngineUnderTest.probed()
    #expect(engine.socketClosed().isEmpty)
    #expect(engine.send("a").isEmpty)
    #expect(engine.poll() == [.answer("4a")])
  }

  @Test("a ping that was not fetched goes to the WebSocket, and its pong counts")
  func pingAcrossUpgrade() {
    let engine = EngineUnderTest.probed()
    #expect(engine.tick(at: 300).isEmpty)
    #expect(engine.socket("5") == [.write("2")])
    engine.now = 400
    #expect(engine.socket("3").isEmpty)
    #expect(engine.session.deadline == .milliseconds(700))
  }

  @Test("what ends the session closes the WebSocket that is being tested")
  func endsWithProbe() {
    #expect(EngineUnderTest.probed().post("1") == [.closeSocket, .ended(.closedByClient), .answerPost])
    #expect(EngineUnderTest.probed().close() == [.closeSocket, .ended(.closedByServer)])
    #expect(EngineUnderTest.probed().post("abc").first == .closeSocket)
  }
}
