/// The content of a message packet. Text is valid UTF-8.
package enum EngineMessage: Equatable, Sendable {
  case text([UInt8])
  case binary([UInt8])
}

/// A packet of Engine.IO, protocol 4.
package enum EnginePacket: Equatable, Sendable {
  /// The handshake, as JSON.
  case open([UInt8])
  case close
  case ping([UInt8])
  case pong([UInt8])
  case message(EngineMessage)
  case upgrade
  case noop

  /// The payload of the ping and pong that test a transport before an upgrade.
  package static let probe = Array("probe".utf8)
}

/// Why a packet or a payload of packets cannot be read.
package enum EnginePacketError: Error, Equatable, Sendable {
  /// There is no packet type.
  case empty
  case unknownType(UInt8)
  /// The type has no payload.
  case unexpectedPayload
  case invalidBase64
  case invalidUTF8
  case payloadTooLarge
  case tooManyPackets
  /// A packet that a client cannot send, or not now.
  case unexpectedPacket
}

extension EnginePacket {
  /// - Parameter text: valid UTF-8.
  package init(parsing text: ArraySlice<UInt8>) throws(EnginePacketError) {
    guard let type = text.first else { throw .empty }
    let payload = text.dropFirst()
    switch type {
    case UInt8(ascii: "0"): self = .open(Array(payload))
    case UInt8(ascii: "2"): self = .ping(Array(payload))
    case UInt8(ascii: "3"): self = .pong(Array(payload))
    case UInt8(ascii: "4"): self = .message(.text(Array(payload)))
    case UInt8(ascii: "1"): self = try Self.bare(.close, payload)
    case UInt8(ascii: "5"): self = try Self.bare(.upgrade, payload)
    case UInt8(ascii: "6"): self = try Self.bare(.noop, payload)
    case UInt8(ascii: "b"):
      guard let bytes = Base64.decode(payload) else { throw .invalidBase64 }
      self = .message(.binary(bytes))
    default: throw .unknownType(type)
    }
  }

  /// A packet as it arrives on a WebSocket: one message is one packet.
  package init(parsing message: WebSocketMessage) throws(EnginePacketError) {
    switch message {
    case .text(let text): try self.init(parsing: text[...])
    case .binary(let bytes): self = .message(.binary(bytes))
    }
  }

  private static func bare(
    _ packet: EnginePacket, _ payload: ArraySlice<UInt8>
  ) throws(EnginePacketError) -> EnginePacket {
    guard payload.isEmpty else { throw .unexpectedPayload }
    return packet
  }

  /// The packet as it is sent on a WebSocket. The bytes of text are the same in a polling payload, so a packet for many
  /// clients is encoded once.
  package var encoded: WebSocketMessage {
    switch self {
    case .open(let payload): Self.text("0", payload)
    case .close: Self.text("1", [])
    case .ping(let payload): Self.text("2", payload)
    case .pong(let payload): Self.text("3", payload)
    case .message(.text(let text)): Self.text("4", text)
    case .message(.binary(let bytes)): .binary(bytes)
    case .upgrade: Self.text("5", [])
    case .noop: Self.text("6", [])
    }
  }

  private static func text(_ type: Unicode.Scalar, _ payload: [UInt8]) -> WebSocketMessage {
    .text([UInt8(ascii: type)] + payload)
  }
}

/// The body of a polling request or response: packets, separated by U+001E, and binary messages in Base64.
package enum EnginePayload {
  private static let separator: UInt8 = 0x1e

  package static func encode(_ packets: some Sequence<WebSocketMessage>) -> [UInt8] {
    var body: [UInt8] = []
    for (index, packet) in packets.enumerated() {
      if index > 0 { body.append(separator) }
      switch packet {
      case .text(let text): body.append(contentsOf: text)
      case .binary(let bytes):
        body.append(UInt8(ascii: "b"))
        Base64.append(bytes, to: &body)
      }
    }
    return body
  }

  /// The length of a packet in a payload, with the separator.
  package static func bytes(of packet: WebSocketMessage) -> Int {
    switch packet {
    case .text(let text): text.count + 1
    case .binary(let bytes): Base64.encodedBytes(bytes.count) + 2
    }
  }

  /// Reads all packets, or none if one is malformed.
  package static func decode(
    _ body: [UInt8], maximumBytes: Int, maximumPackets: Int
  ) throws(EnginePacketError) -> [EnginePacket] {
    guard body.count <= maximumBytes else { throw .payloadTooLarge }
    guard IncrementalUTF8.isValid(body) else { throw .invalidUTF8 }
    var packets: [EnginePacket] = []
    var rest = body[...]
    while true {
      guard packets.count < maximumPackets else { throw .tooManyPackets }
      guard let end = rest.firstIndex(of: separator) else { break }
      packets.append(try EnginePacket(parsing: rest[..<end]))
      rest = rest[(end + 1)...]
    }
    packets.append(try EnginePacket(parsing: rest))
    return packets
  }
}
