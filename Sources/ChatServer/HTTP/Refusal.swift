import ChatProtocol

/// Why a request is refused before any service sees it. Each has a stable code; see `docs/errors.md`.
enum Refusal: Error, Hashable {
  case accessTokenMissing
  case accessTokenInvalid
  case accessTokenExpired
  case refreshTokenInvalid
  case idTokenInvalid(TokenFlaw)
  case idTokenExpired
  case issuerUnavailable
  case actingUserRequired
  case invalidActAs
  case invalidJSON(JSONFlaw)
  case invalidUTF8
  case unknownField(String)
  case invalidField(String)
  case invalidID(String)
  case invalidQuery(String)
  case invalidCursor
  case invalidIdempotencyKey
  case invalidIfMatch
  case ifMatchUnsupported
  case unsupportedMediaType
  case tooManyMarksInTarget
  case tooManyMarksInHeader
  /// A form with a file in it where the file itself is wanted.
  case formInsteadOfFile
  /// What came is no HTTP; says what it must be.
  case malformedRequest(String)
  case targetTooLong
  case headersTooLarge
  case rateLimited(RateStatus)
  case tooManyAttempts(retryAfterSeconds: Int)
  case tooManyStreams
  case tooManyUploadsOfAddress
  case bodyTooLarge(limit: Int)
  case tooManyLines(limit: Int)
  /// The rate limits refused so many lines of a stream in a row that it ends.
  case tooManyRefusedLines(limit: Int)
  /// - size: of what a part was asked of, in bytes.
  case rangeNotSatisfiable(size: Int)
  case lineTooLong(limit: Int)
  /// The server cannot serve requests now; the text says why.
  case unready(String)
  case routeNotFound
  case methodNotAllowed(allowed: [String])
}
