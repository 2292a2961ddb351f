import EventLogSimulation
import Testing

@testable import SocketProtocols

@Suite struct EngineRequestSpecs {
  static let id = EngineSessionID(random: 1, 2)

  private func request(
    _ method: String = "GET", isUpgrade: Bool = false, version: String? = "4", transport: String? = "polling",
    session: String? = nil
  ) throws(EngineError) -> EngineRequest {
    try EngineRequest(method: method, isUpgrade: isUpgrade, version: version, transport: transport, session: session)
  }

  @Test("each valid request asks for one thing")
  func valid() throws {
    #expect(try request() == .open(.polling))
    #expect(try request(isUpgrade: true, transport: "websocket") == .open(.websocket))
    #expect(try request(session: Self.id.text) == .poll(Self.id))
    #expect(try request("POST", session: Self.id.text) == .post(Self.id))
    #expect(try request(isUpgrade: true, transport: "websocket", session: Self.id.text) == .upgrade(Self.id))
  }

  @Test("the version is 4", arguments: [nil, "", "3", "5", "abc", "04"])
  func version(version: String?) {
    #expect(throws: EngineError.unsupportedVersion) { try request(version: version) }
  }

  @Test("the transport is known", arguments: [nil, "", "abc", "Polling", "webtransport"])
  func transport(transport: String?) {
    #expect(throws: EngineError.unknownTransport) { try request(transport: transport) }
  }

  @Test("a session is opened with GET", arguments: ["POST", "PUT", "DELETE", "get"])
  func method(method: String) {
    #expect(throws: EngineError.badHandshakeMethod) { try request(method) }
    #expect(throws: EngineError.badHandshakeMethod) { try request(method, isUpgrade: true, transport: "websocket") }
  }

  @Test("a session takes GET and POST, its WebSocket only GET")
  func methodsOfSession() {
    #expect(throws: EngineError.badRequest) { try request("PUT", session: Self.id.text) }
    #expect(throws: EngineError.badRequest) {
      try request("POST", isUpgrade: true, transport: "websocket", session: Self.id.text)
    }
  }

  @Test("a WebSocket needs the header, and polling must not have it")
  func upgrade() {
    #expect(throws: EngineError.badRequest) { try request(transport: "websocket") }
    #expect(throws: EngineError.badRequest) { try request(isUpgrade: true) }
  }

  @Test(
    "an ID that no session can have is unknown",
    arguments: ["", "x", "AAAAAAAAAAAAAAAAAAAAA+", "💬", "AAAAAAAAAAAAAAAAAAAAAAA"])
  func unknownID(session: String) {
    #expect(throws: EngineError.unknownSession) { try request(session: session) }
  }

  @Test("an ID is 128 bits in 22 characters that need no escape", arguments: 0..<50 as Range<UInt64>)
  func ids(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    let id = EngineSessionID(random: random.next(), random.next())
    #expect(EngineSessionID(id.text) == id)
    #expect(EngineSessionID(random: 0, seed).text != EngineSessionID(random: seed + 1, seed).text)
  }

  @Test("known IDs")
  func knownIDs() {
    #expect(EngineSessionID(random: 0, 0).text == "AAAAAAAAAAAAAAAAAAAAAA")
    #expect(EngineSessionID(random: .max, .max).text == "_____________________w")
  }

  @Test("errors have the codes and texts of the protocol")
  func errors() {
    #expect(EngineError.allCases.map(\.rawValue) == [0, 1, 2, 3, 4, 5])
    #expect(EngineError.unknownSession.message == "Session ID unknown")
  }
}
