import Testing

@testable import SocketProtocols

@Suite struct WebSocketHandshakeSpecs {
  /// The key of RFC 6455, section 1.3.
  private static let key = "dGhlIHNhbXBsZSBub25jZQ=="

  private func handshake(
    _ method: String = "GET", upgrade: [String] = ["websocket"], connection: [String] = ["Upgrade"],
    versions: [String] = ["13"], keys: [String] = [key]
  ) throws(WebSocketHandshake.Failure) -> WebSocketHandshake {
    try WebSocketHandshake(
      method: method, upgrade: upgrade, connection: connection, versions: versions, keys: keys)
  }

  @Test("a handshake is accepted with its key")
  func accepted() throws {
    let input = try handshake().acceptInput
    #expect(input == utf8("dGhlIHNhbXBsZSBub25jZQ==258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
  }

  @Test("names have any case and can be in a list")
  func names() {
    #expect(throws: Never.self) { try handshake(upgrade: ["WebSocket"], connection: ["keep-alive, Upgrade"]) }
    #expect(throws: Never.self) { try handshake(upgrade: ["h2c,websocket "], connection: ["keep-alive", "\tupgrade"]) }
  }

  @Test("without GET, the names or one key it is malformed")
  func malformed() {
    #expect(throws: WebSocketHandshake.Failure.malformed) { try handshake("POST") }
    #expect(throws: WebSocketHandshake.Failure.malformed) { try handshake(upgrade: []) }
    #expect(throws: WebSocketHandshake.Failure.malformed) { try handshake(upgrade: ["h2c"]) }
    #expect(throws: WebSocketHandshake.Failure.malformed) { try handshake(connection: ["close"]) }
    #expect(throws: WebSocketHandshake.Failure.malformed) { try handshake(connection: ["xupgrade"]) }
    #expect(throws: WebSocketHandshake.Failure.malformed) { try handshake(keys: []) }
    #expect(throws: WebSocketHandshake.Failure.malformed) { try handshake(keys: [Self.key, Self.key]) }
    #expect(throws: WebSocketHandshake.Failure.malformed) { try handshake(versions: []) }
    #expect(throws: WebSocketHandshake.Failure.malformed) { try handshake(versions: ["13", "13"]) }
  }

  @Test(
    "a key is 16 bytes of Base64",
    arguments: [
      "", "dGhl", "dGhlIHNhbXBsZSBub25jZQ", "dGhlIHNhbXBsZSBub25jZTE=", "dGhlIHNhbXBsZSBub25jZ-==",
      "dGhlIHNhbXBsZSBub25jZQQQ", "dGhlIHNhbXBsZSBub25jZ===",
    ])
  func key(key: String) {
    #expect(throws: WebSocketHandshake.Failure.malformed) { try handshake(keys: [key]) }
  }

  @Test("unused bits of a key can be set")
  func sloppyKey() {
    #expect(throws: Never.self) { try handshake(keys: ["dGhlIHNhbXBsZSBub25jZR=="]) }
  }

  @Test("the version is 13", arguments: ["0", "8", "14", "13, 8", "x"])
  func version(version: String) {
    #expect(throws: WebSocketHandshake.Failure.unsupportedVersion) { try handshake(versions: [version]) }
  }
}
