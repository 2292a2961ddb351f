import ChatProtocol

/// Why a request is rejected before it reaches a service. Each case has a stable code; see `docs/errors.md`.
enum Refusal: Error, Hashable {
  case accessTokenMissing
  case accessTokenInvalid
  case accessTokenExpired
  /// The ticket of a stream was used before, has expired, or was never issued.
  case ticketInvalid
  /// The signature in the URL of a download was not made by this server for this URL.
  case signatureInvalid
  case signatureExpired
  case refreshTokenInvalid
  case idTokenInvalid(TokenFlaw)
  case idTokenExpired
  case issuerUnavailable
  case actingUserRequired
  case invalidActAs
  case invalidJSON(JSONFlaw)
  case invalidUTF8
  /// What is wrong with fields of a body; at least one. The first is the problem that the client gets.
  case invalidFields([FieldProblem])
  /// - at: the field as a JSON pointer; nil if it is not one field.
  case invalidField(String, at: String? = nil)
  case invalidID(String)
  case invalidQuery(String)
  case invalidCursor
  /// A cursor of the sync that this log does not continue.
  case cursorUnknown
  case invalidIdempotencyKey
  case invalidIfMatch
  case ifMatchUnsupported
  case unsupportedMediaType
  case tooManyMarksInTarget
  case tooManyMarksInHeader
  /// The form of an upload breaks this rule.
  case invalidForm(String)
  /// The input is not valid HTTP. The text is the rule that it breaks.
  case malformedRequest(String)
  case targetTooLong
  case headersTooLarge
  case rateLimited(RateStatus)
  case tooManyAttempts(retryAfterSeconds: Int)
  case tooManyStreams
  case tooManyUploadsOfAddress
  /// The address has too many sessions of Socket.IO.
  case tooManySessionsOfAddress
  case bodyTooLarge(limit: Int)
  case tooManyLines(limit: Int)
  /// The rate limits rejected so many lines of a stream in a row that the stream ends.
  case tooManyRefusedLines(limit: Int)
  /// - size: the size in bytes of the file of which a range was requested.
  case rangeNotSatisfiable(size: Int)
  case lineTooLong(limit: Int)
  /// The server cannot serve requests now; the text says why.
  case unready(String)
  case tooManyCommands
  /// Too many pings and pongs over a WebSocket.
  case tooManyControlFrames
  /// The request comes from a web page of another origin.
  case originNotAllowed
  /// The operator does not let users find others by this.
  case findingNotAllowed(String)
  /// The path is that of a WebSocket.
  case upgradeRequired
  /// The text is the rule of RFC 6455 that a handshake or a frame breaks.
  case webSocketMalformed(String)
  /// A message of a WebSocket that means nothing here. The text says why.
  case invalidFrame(String)
  case frameTooLarge(limit: Int)
  case authenticationTimeout
  case routeNotFound
  /// A namespace of Socket.IO.
  case namespaceUnknown
  case methodNotAllowed(allowed: [String])
  case pushNotExplained(PushExplanationFailure)
  case projectionNotFound
}
