/// The types of frames (RFC 6455, section 5.2).
package enum WebSocketOpcode: UInt8, Sendable {
  case continuation = 0x0
  case text = 0x1
  case binary = 0x2
  case close = 0x8
  case ping = 0x9
  case pong = 0xa

  /// Control frames can arrive between the fragments of a message.
  package var isControl: Bool { rawValue & 0x8 != 0 }
}

/// The parts of a frame's header that the rules of messages depend on. The frame codec reads the rest.
package struct WebSocketFrameHeader: Equatable, Sendable {
  /// The longest payload of a control frame (RFC 6455, section 5.5).
  package static let controlBytes = 125

  /// Whether this is the last fragment of its message.
  package var isFinal: Bool
  /// The bits RSV1 to RSV3. They are zero without extensions.
  package var reserved: UInt8
  /// 4 bits.
  package var opcode: UInt8
  /// Whether the payload was masked, as every client must do.
  package var isMasked: Bool

  package init(isFinal: Bool = true, reserved: UInt8 = 0, opcode: UInt8, isMasked: Bool = true) {
    self.isFinal = isFinal
    self.reserved = reserved
    self.opcode = opcode
    self.isMasked = isMasked
  }
}

/// A whole message. Text is valid UTF-8.
package enum WebSocketMessage: Equatable, Sendable {
  case text([UInt8])
  case binary([UInt8])

  package var bytes: [UInt8] {
    switch self {
    case .text(let bytes), .binary(let bytes): bytes
    }
  }
}

extension WebSocketMessage {
  /// The bytes of one final frame. A server's frames have no mask, so the same bytes serve all clients.
  package var frame: [UInt8] {
    switch self {
    case .text(let bytes): WebSocketFrames.encode(.text, bytes)
    case .binary(let bytes): WebSocketFrames.encode(.binary, bytes)
    }
  }
}

/// Encodes frames as a server sends them: final and without a mask (RFC 6455, section 5.2).
package enum WebSocketFrames {
  /// The longest header of a frame without a mask.
  package static let headerBytes = 10
  /// Lengths above this take two bytes more.
  private static let shortBytes = 125
  /// Lengths above this take eight bytes more.
  private static let mediumBytes = 65_535

  package static func encode(_ opcode: WebSocketOpcode, _ payload: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(headerBytes + payload.count)
    bytes.append(0x80 | opcode.rawValue)
    let count = UInt64(payload.count)
    switch payload.count {
    case ...shortBytes: bytes.append(UInt8(payload.count))
    case ...mediumBytes:
      bytes.append(126)
      appendBigEndian(count, bytes: 2, to: &bytes)
    default:
      bytes.append(127)
      appendBigEndian(count, bytes: 8, to: &bytes)
    }
    bytes.append(contentsOf: payload)
    return bytes
  }

  private static func appendBigEndian(_ value: UInt64, bytes count: Int, to bytes: inout [UInt8]) {
    for index in (0..<count).reversed() { bytes.append(UInt8(value >> (8 * UInt64(index)) & 0xff)) }
  }
}
