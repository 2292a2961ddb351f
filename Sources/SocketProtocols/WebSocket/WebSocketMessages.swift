/// Turns the frames of a client into messages and control frames (RFC 6455, sections 5.4 to 5.6 and 8.1).
///
/// The frame codec has removed the mask. After a failure or a close frame the value must not be used any more.
package struct WebSocketMessages: Sendable {
  package struct Limits: Equatable, Sendable {
    /// The longest message, over all its fragments.
    package var messageBytes: Int
    /// The most frames of one message.
    package var fragments: Int

    package init(messageBytes: Int, fragments: Int) {
      self.messageBytes = messageBytes
      self.fragments = fragments
    }
  }

  package enum Output: Equatable, Sendable {
    /// The message has further fragments.
    case incomplete
    case message(WebSocketMessage)
    case ping([UInt8])
    case pong([UInt8])
    case close(WebSocketClose)
  }

  /// What the fragments so far belong to.
  private enum Assembly {
    case none
    case text(IncrementalUTF8)
    case binary
  }

  private let limits: Limits
  private var assembly = Assembly.none
  private var bytes: [UInt8] = []
  private var fragments = 0

  package init(limits: Limits) {
    self.limits = limits
  }

  /// How much has arrived of a message that is not complete.
  package var unfinishedBytes: Int { bytes.count }

  /// - Parameter payload: without its mask. The bytes of a message in one frame are handed on without a copy.
  package mutating func receive(
    _ header: WebSocketFrameHeader, payload: consuming [UInt8]
  ) throws(WebSocketFailure) -> Output {
    guard header.isMasked else { throw .unmasked }
    guard header.reserved == 0 else { throw .reservedBits(header.reserved) }
    guard let opcode = WebSocketOpcode(rawValue: header.opcode) else { throw .unknownOpcode(header.opcode) }
    if opcode.isControl {
      guard header.isFinal else { throw .fragmentedControl }
      guard payload.count <= WebSocketFrameHeader.controlBytes else { throw .controlTooLong(bytes: payload.count) }
    }
    switch opcode {
    case .ping: return .ping(payload)
    case .pong: return .pong(payload)
    case .close: return .close(try WebSocketClose(parsing: payload))
    case .text:
      try begin(.text(IncrementalUTF8()))
      return try append(payload, isFinal: header.isFinal)
    case .binary:
      try begin(.binary)
      return try append(payload, isFinal: header.isFinal)
    case .continuation:
      if case .none = assembly { throw .unexpectedContinuation }
      return try append(payload, isFinal: header.isFinal)
    }
  }

  private mutating func begin(_ new: Assembly) throws(WebSocketFailure) {
    guard case .none = assembly else { throw .interleavedMessage }
    assembly = new
  }

  private mutating func append(_ payload: consuming [UInt8], isFinal: Bool) throws(WebSocketFailure) -> Output {
    fragments += 1
    guard fragments <= limits.fragments else { throw .tooManyFragments }
    guard payload.count <= limits.messageBytes - bytes.count else { throw .messageTooLarge }
    if case .text(var check) = assembly {
      // Each fragment is checked when it arrives, so that invalid text does not wait for the end of its message.
      guard check.accept(payload) else { throw .invalidUTF8 }
      guard !isFinal || check.isComplete else { throw .invalidUTF8 }
      assembly = .text(check)
    }
    if bytes.isEmpty {
      bytes = payload
    } else {
      bytes.append(contentsOf: payload)
    }
    return isFinal ? finish() : .incomplete
  }

  private mutating func finish() -> Output {
    let whole = bytes
    let finished = assembly
    (assembly, bytes, fragments) = (.none, [], 0)
    switch finished {
    case .text: return .message(.text(whole))
    case .binary: return .message(.binary(whole))
    case .none: return .incomplete
    }
  }
}
