/// Why a client's frames end the connection.
package enum WebSocketFailure: Error, Equatable, Sendable {
  case unmasked
  case reservedBits(UInt8)
  case unknownOpcode(UInt8)
  case fragmentedControl
  case controlTooLong(bytes: Int)
  /// A continuation without a message that it continues.
  case unexpectedContinuation
  /// A new message within another one.
  case interleavedMessage
  case messageTooLarge
  case tooManyFragments
  case invalidUTF8
  /// A close frame of one byte.
  case malformedClose
  case invalidCloseCode(UInt16)
  /// The server keeps no more unfinished messages for the client's address. The caller detects that.
  case overBudget
  /// A message arrives too slowly. The caller detects that.
  case messageTooSlow
  /// More pings and pongs than a client may send. The caller counts them.
  case tooManyControlFrames

  package var closeCode: WebSocketCloseCode {
    switch self {
    case .unmasked, .reservedBits, .unknownOpcode, .fragmentedControl, .controlTooLong, .unexpectedContinuation,
      .interleavedMessage, .malformedClose, .invalidCloseCode:
      .protocolError
    case .messageTooLarge, .tooManyFragments: .messageTooBig
    case .invalidUTF8: .invalidData
    case .overBudget: .tryAgainLater
    case .messageTooSlow, .tooManyControlFrames: .policyViolation
    }
  }
}
