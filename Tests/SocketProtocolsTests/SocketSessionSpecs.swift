import Testing

@testable import SocketProtocols

/// A session and the time, in seconds. The specs pass inputs and compare actions.
private final class SocketUnderTest {
  private(set) var session = SocketSession(limits: .small, now: .zero)
  var now = 0

  func receive(_ text: String) -> [SocketSession.Action] {
    session.receive(.text(utf8(text)), now: .seconds(now))
  }

  func receive(binary: [UInt8]) -> [SocketSession.Action] { session.receive(.binary(binary), now: .seconds(now)) }

  func tick(at time: Int) -> [SocketSession.Action] {
    now = time
    return session.tick(now: .seconds(time))
  }

  func accept(_ number: Int) -> [SocketSession.Action] { session.accept(Self.id(number), sid: Self.sid) }
  func refuse(_ number: Int) -> [SocketSession.Action] { session.refuse(Self.id(number), "Invalid namespace") }
  func disconnect(_ number: Int) -> [SocketSession.Action] {
    session.disconnect(Self.id(number), now: .seconds(now))
  }
  func engineEnded() -> [SocketSession.Action] { session.engineEnded() }

  /// Connects to a namespace and accepts it.
  func connect(_ namespace: String, _ number: Int) {
    _ = receive("0\(namespace)")
    _ = accept(number)
  }

  static func id(_ number: Int) -> SocketSession.ConnectionID { SocketSession.ConnectionID(value: number) }
  static let sid = EngineSessionID(random: 0, 0)
}

@Suite struct SocketSessionSpecs {
  private let socket = SocketUnderTest()
  private let first = SocketUnderTest.id(0)
  private let second = SocketUnderTest.id(1)

  private func sends(_ text: String) -> [SocketSession.Action] { [.send([.text(utf8(text))])] }

  // MARK: Connecting

  @Test("the application decides about a CONNECT")
  func connects() {
    #expect(socket.receive("0{\"token\":\"123\"}") == [.connect(first, .main, payload: utf8("{\"token\":\"123\"}"))])
    #expect(socket.accept(0) == sends("40{\"sid\":\"AAAAAAAAAAAAAAAAAAAAAA\"}"))
    #expect(socket.accept(0).isEmpty)
  }

  @Test("a session is connected to several namespaces")
  func namespaces() throws {
    socket.connect("", 0)
    let custom = try #require(SocketNamespace("/custom"))
    #expect(socket.receive("0/custom") == [.connect(second, custom, payload: nil)])
    #expect(socket.accept(1) == sends("40/custom,{\"sid\":\"AAAAAAAAAAAAAAAAAAAAAA\"}"))
    #expect(socket.receive("2[\"a\"]") == [.event(first, arguments("\"a\""), nil)])
    #expect(socket.receive("2/custom,[\"b\"]") == [.event(second, arguments("\"b\""), nil)])
  }

  @Test("a refused namespace can be tried again, and the session stays")
  func refused() {
    _ = socket.receive("0/random")
    #expect(socket.refuse(0) == sends("44/random,{\"message\":\"Invalid namespace\"}"))
    #expect(socket.receive("0/random").count == 1)
    #expect(socket.accept(1).count == 1)
  }

  @Test("a session has its limit of namespaces", arguments: [2, 3, 4])
  func limit(count: Int) {
    for number in 0..<count - 1 { socket.connect("/\(number)", number) }
    let actions = socket.receive("0/last")
    if count <= 3 {
      #expect(actions.count == 1 && actions != sends("44/last,{\"message\":\"Too many namespaces\"}"))
    } else {
      #expect(actions == sends("44/last,{\"message\":\"Too many namespaces\"}"))
      #expect(socket.receive("1/0") == [.disconnected(first)])
      #expect(socket.receive("0/last").count == 1)
    }
  }

  @Test("without a namespace the session ends in time")
  func timeout() {
    #expect(socket.session.deadline == .seconds(10))
    #expect(socket.tick(at: 9).isEmpty)
    #expect(socket.tick(at: 10) == [.close(.connectTimeout)])
    #expect(socket.tick(at: 11).isEmpty)
    #expect(socket.receive("0").isEmpty)
  }

  @Test("a refused CONNECT does not extend the time; one that is being decided does")
  func timeoutOfRefused() {
    socket.now = 9
    _ = socket.receive("0")
    #expect(socket.session.deadline == nil)
    #expect(socket.tick(at: 12).isEmpty)
    _ = socket.refuse(0)
    #expect(socket.tick(at: 12) == [.close(.connectTimeout)])
  }

  @Test("after the last namespace the time begins again")
  func timeoutAfterDisconnect() {
    socket.connect("", 0)
    socket.now = 100
    #expect(socket.session.deadline == nil)
    #expect(socket.receive("1") == [.disconnected(first)])
    #expect(socket.tick(at: 109).isEmpty)
    #expect(socket.tick(at: 110) == [.close(.connectTimeout)])
  }

  // MARK: Packets that are not possible

  @Test(
    "any packet but CONNECT closes a session that is not connected",
    arguments: ["2[\"a\"]", "31[]", "1", "4{}", "2/custom,[\"a\"]"])
  func notConnected(text: String) {
    #expect(socket.receive(text) == [.close(.unexpectedPacket)])
  }

  @Test("an event before the application has accepted closes the session")
  func tooEarly() {
    _ = socket.receive("0")
    #expect(socket.receive("2[\"a\"]") == [.disconnected(first), .close(.unexpectedPacket)])
    #expect(socket.accept(0).isEmpty)
  }

  @Test("a second CONNECT, and a CONNECT_ERROR, close the session", arguments: ["0", "4{\"message\":\"\"}"])
  func repeated(text: String) {
    socket.connect("", 0)
    #expect(socket.receive(text) == [.disconnected(first), .close(.unexpectedPacket)])
  }

  @Test("a malformed packet closes the session and ends all namespaces", arguments: ["", "abc", "2{}", "2abc[\"a\"]"])
  func malformed(text: String) {
    socket.connect("", 0)
    socket.connect("/custom", 1)
    let actions = socket.receive(text)
    #expect(actions.prefix(2) == [.disconnected(first), .disconnected(second)])
    #expect(actions.count == 3)
    #expect(socket.receive("2[\"a\"]").isEmpty)
  }

  // MARK: Events

  @Test("an event with an ID is acknowledged in its namespace")
  func acknowledges() throws {
    socket.connect("/custom", 0)
    let id = try #require(SocketEventID(456))
    #expect(socket.receive("2/custom,456[\"a\",1]") == [.event(first, arguments("\"a\"", "1"), id)])
    #expect(socket.session.acknowledge(id, arguments("1"), to: first) == sends("43/custom,456[1]"))
  }

  @Test("binary events arrive whole, and are acknowledged with attachments")
  func binary() throws {
    socket.connect("", 0)
    let placeholder = "{\"_placeholder\":true,\"num\":0}"
    #expect(socket.receive("51-789[\"a\",\(placeholder)]").isEmpty)
    let id = try #require(SocketEventID(789))
    let expected = arguments("\"a\"", placeholder, attachments: [[1, 2, 3]])
    #expect(socket.receive(binary: [1, 2, 3]) == [.event(first, expected, id)])
    let echo = SocketArguments(expected.elements(from: 1), attachments: expected.attachments)
    #expect(
      socket.session.acknowledge(id, echo, to: first)
        == [.send([.text(utf8("461-789[\(placeholder)]")), .binary([1, 2, 3])])])
  }

  @Test("an acknowledgement that the server did not ask for is ignored")
  func strayAcknowledgement() {
    socket.connect("", 0)
    #expect(socket.receive("31[]").isEmpty)
  }

  @Test("what is sent to a namespace goes out only while it is connected")
  func sending() {
    let packets = SocketPacket(.event(arguments("\"a\""), nil)).encoded
    _ = socket.receive("0")
    #expect(socket.session.send(packets, to: first).isEmpty)
    _ = socket.accept(0)
    #expect(socket.session.send(packets, to: first) == [.send(packets)])
    _ = socket.receive("1")
    #expect(socket.session.send(packets, to: first).isEmpty)
  }

  // MARK: Disconnecting

  @Test("a client leaves one namespace and keeps the other")
  func leaves() {
    socket.connect("", 0)
    socket.connect("/custom", 1)
    #expect(socket.receive("1/custom") == [.disconnected(second)])
    #expect(socket.receive("2[\"a\"]").count == 1)
    #expect(socket.receive("2/custom,[\"a\"]") == [.disconnected(first), .close(.unexpectedPacket)])
  }

  @Test("the client can give up while the application decides")
  func givesUp() {
    _ = socket.receive("0")
    #expect(socket.receive("1") == [.disconnected(first)])
    #expect(socket.accept(0).isEmpty)
  }

  @Test("when the server ends a namespace, what is on its way is ignored, and the client can return")
  func serverDisconnects() {
    socket.connect("", 0)
    socket.connect("/custom", 1)
    #expect(socket.disconnect(1) == sends("41/custom,"))
    #expect(socket.disconnect(1).isEmpty)
    #expect(socket.receive("2/custom,1[\"late\"]").isEmpty)
    #expect(socket.receive("0/custom").count == 1)
    #expect(socket.accept(2).count == 1)
  }

  @Test("the client's own DISCONNECT that crosses the server's is no error")
  func crossing() {
    socket.connect("", 0)
    _ = socket.disconnect(0)
    #expect(socket.receive("1").isEmpty)
    #expect(socket.receive("0").count == 1)
  }

  @Test("namespaces that the server has ended do not use up the limit")
  func endedNamespaces() {
    for number in 0..<10 {
      socket.connect("/\(number)", number)
      #expect(socket.disconnect(number).count == 1)
    }
  }

  @Test("an acknowledgement for an earlier connection does not reach the next one")
  func staleAcknowledgement() throws {
    socket.connect("", 0)
    let id = try #require(SocketEventID(1))
    _ = socket.receive("21[\"slow\"]")
    _ = socket.receive("1")
    socket.connect("", 1)
    #expect(socket.session.acknowledge(id, arguments(), to: first).isEmpty)
    #expect(socket.session.acknowledge(id, arguments(), to: second) == sends("431[]"))
  }

  @Test("when Engine.IO ends, all namespaces end, and nothing follows")
  func engineEnds() {
    socket.connect("", 0)
    _ = socket.receive("0/custom")
    #expect(socket.engineEnded() == [.disconnected(first), .disconnected(second)])
    #expect(socket.engineEnded().isEmpty)
    #expect(socket.accept(1).isEmpty)
    #expect(socket.session.deadline == nil)
  }
}
