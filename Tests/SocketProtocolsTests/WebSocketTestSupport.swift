import Testing

@testable import SocketProtocols

/// A frame of a client, without its mask.
struct ClientFrame {
  var header: WebSocketFrameHeader
  var payload: [UInt8]

  init(_ opcode: WebSocketOpcode, _ payload: [UInt8], isFinal: Bool = true) {
    header = WebSocketFrameHeader(isFinal: isFinal, opcode: opcode.rawValue)
    self.payload = payload
  }

  init(_ opcode: WebSocketOpcode, _ text: String = "", isFinal: Bool = true) {
    self.init(opcode, utf8(text), isFinal: isFinal)
  }

  static func text(_ text: String) -> ClientFrame { ClientFrame(.text, text) }

  /// A message in several frames.
  static func fragments(_ opcode: WebSocketOpcode, _ parts: [[UInt8]]) -> [ClientFrame] {
    parts.enumerated().map { index, part in
      ClientFrame(index == 0 ? opcode : .continuation, part, isFinal: index == parts.count - 1)
    }
  }
}

extension WebSocketMessages {
  /// The outputs of these frames, without `incomplete`.
  mutating func receive(_ frames: [ClientFrame]) throws(WebSocketFailure) -> [Output] {
    var outputs: [Output] = []
    for frame in frames {
      let output = try receive(frame.header, payload: frame.payload)
      if output != .incomplete { outputs.append(output) }
    }
    return outputs
  }
}

extension WebSocketMessages.Limits {
  static let small = WebSocketMessages.Limits(messageBytes: 64, fragments: 8)
}
