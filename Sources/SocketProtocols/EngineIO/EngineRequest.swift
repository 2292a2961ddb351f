/// The errors of Engine.IO that a client gets as JSON, with the codes and texts of the reference server.
package enum EngineError: Int, Error, Equatable, Sendable, CaseIterable {
  case unknownTransport = 0
  case unknownSession = 1
  case badHandshakeMethod = 2
  case badRequest = 3
  case forbidden = 4
  case unsupportedVersion = 5

  package var message: String {
    switch self {
    case .unknownTransport: "Transport unknown"
    case .unknownSession: "Session ID unknown"
    case .badHandshakeMethod: "Bad handshake method"
    case .badRequest: "Bad request"
    case .forbidden: "Forbidden"
    case .unsupportedVersion: "Unsupported protocol version"
    }
  }
}

package enum EngineTransport: String, Sendable {
  case polling
  case websocket
}

/// The ID of an Engine.IO session, and of a connection to a namespace: 128 random bits, as Base64 for URLs. It grants
/// nothing.
package struct EngineSessionID: Hashable, Sendable {
  /// The length of the text.
  package static let characters = 22

  package let text: String

  package init(random first: UInt64, _ second: UInt64) {
    var bytes: [UInt8] = []
    for half in [first, second] {
      for shift in stride(from: UInt64(56), through: 0, by: -8) { bytes.append(UInt8(half >> shift & 0xff)) }
    }
    var encoded: [UInt8] = []
    Base64.append(bytes, to: &encoded)
    text = String(
      decoding: encoded.prefix(Self.characters).map { byte in
        switch byte {
        case UInt8(ascii: "+"): UInt8(ascii: "-")
        case UInt8(ascii: "/"): UInt8(ascii: "_")
        default: byte
        }
      }, as: UTF8.self)
  }

  /// - Returns: nil if no session can have this ID.
  package init?(_ text: String) {
    guard text.utf8.count == Self.characters, text.utf8.allSatisfy(Self.isAllowed) else { return nil }
    self.text = text
  }

  private static func isAllowed(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
      true
    default: false
    }
  }
}

/// What an HTTP request to an Engine.IO path asks for.
package enum EngineRequest: Equatable, Sendable {
  /// The version of the protocol in the query.
  package static let version = "4"

  /// A new session. Its first packet is the response, or the first message of the WebSocket.
  case open(EngineTransport)
  case poll(EngineSessionID)
  case post(EngineSessionID)
  /// A WebSocket for a session that polls.
  case upgrade(EngineSessionID)

  /// - Parameters:
  ///   - isUpgrade: whether the request has `Upgrade: websocket`.
  ///   - version: the query parameter `EIO`.
  ///   - session: the query parameter `sid`.
  package init(
    method: String, isUpgrade: Bool, version: String?, transport: String?, session: String?
  ) throws(EngineError) {
    guard let transport = transport.flatMap(EngineTransport.init(rawValue:)) else { throw .unknownTransport }
    guard version == Self.version else { throw .unsupportedVersion }
    guard isUpgrade == (transport == .websocket) else { throw .badRequest }
    guard let session else {
      guard method == "GET" else { throw .badHandshakeMethod }
      self = .open(transport)
      return
    }
    guard let id = EngineSessionID(session) else { throw .unknownSession }
    switch (transport, method) {
    case (.polling, "GET"): self = .poll(id)
    case (.polling, "POST"): self = .post(id)
    case (.websocket, "GET"): self = .upgrade(id)
    case (.polling, _), (.websocket, _): throw .badRequest
    }
  }
}
