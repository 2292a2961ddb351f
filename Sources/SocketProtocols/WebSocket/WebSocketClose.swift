/// A close code (RFC 6455, section 7.4).
package struct WebSocketCloseCode: RawRepresentable, Hashable, Sendable {
  package let rawValue: UInt16

  package init(rawValue: UInt16) {
    self.rawValue = rawValue
  }

  package static let normal = WebSocketCloseCode(rawValue: 1000)
  package static let goingAway = WebSocketCloseCode(rawValue: 1001)
  package static let protocolError = WebSocketCloseCode(rawValue: 1002)
  package static let unsupportedData = WebSocketCloseCode(rawValue: 1003)
  package static let invalidData = WebSocketCloseCode(rawValue: 1007)
  package static let policyViolation = WebSocketCloseCode(rawValue: 1008)
  package static let messageTooBig = WebSocketCloseCode(rawValue: 1009)
  package static let internalError = WebSocketCloseCode(rawValue: 1011)
  package static let tryAgainLater = WebSocketCloseCode(rawValue: 1013)

  /// Whether a close frame can have this code. 1004 is reserved; 1005, 1006 and 1015 are only for local use; 1012 to 1014
  /// were registered after the RFC.
  package var isValidOnWire: Bool {
    switch rawValue {
    case 1000...1003, 1007...1014, 3000...4999: true
    default: false
    }
  }
}

/// The content of a close frame. Without a code, the frame is empty.
package struct WebSocketClose: Equatable, Sendable {
  /// The longest reason: what is left of a control frame after the code.
  package static let reasonBytes = WebSocketFrameHeader.controlBytes - 2

  package let code: WebSocketCloseCode?
  package let reason: String

  /// A close frame without code and reason.
  package static let empty = WebSocketClose(code: nil, reason: "")

  /// A reason that is too long for a frame is cut between two characters.
  package init(_ code: WebSocketCloseCode, reason: String = "") {
    var reason = reason
    while reason.utf8.count > Self.reasonBytes { reason.removeLast() }
    self.init(code: code, reason: reason)
  }

  private init(code: WebSocketCloseCode?, reason: String) {
    self.code = code
    self.reason = reason
  }

  package init(parsing payload: [UInt8]) throws(WebSocketFailure) {
    guard payload.count != 1 else { throw .malformedClose }
    guard payload.count >= 2 else {
      self = .empty
      return
    }
    let code = WebSocketCloseCode(rawValue: UInt16(payload[0]) << 8 | UInt16(payload[1]))
    guard code.isValidOnWire else { throw .invalidCloseCode(code.rawValue) }
    let reason = Array(payload.dropFirst(2))
    guard IncrementalUTF8.isValid(reason) else { throw .invalidUTF8 }
    self.init(code: code, reason: String(decoding: reason, as: UTF8.self))
  }

  package var payload: [UInt8] {
    guard let code else { return [] }
    return [UInt8(code.rawValue >> 8), UInt8(code.rawValue & 0xff)] + reason.utf8
  }

  package var frame: [UInt8] { WebSocketFrames.encode(.close, payload) }
}
