import ChatDomain
import ChatPrimitives
import ChatProtocol
import ChatService
import Glibc
import HTTPTypes
import Hummingbird
import NIOCore
import SocketProtocols

/// Maps an error to the problem in the response. Only this type, `ProblemCode`, and the `status` of rejections, invalid
/// input and media problems define which HTTP status an error has.
struct ProblemMapping {
  /// The seconds after which a client may try again.
  static let retryAfterSeconds = 1

  var status: HTTPResponse.Status
  let code: String
  let detail: String
  var headers = HTTPFields()
  /// The field of the body that is wrong, as a JSON pointer.
  private(set) var field: String?
  /// Everything that is wrong with the body, if it is more than one thing.
  private(set) var fieldProblems: [FieldProblem]?

  /// Whether the server failed, and not the request. The same request may succeed later.
  var isOfTheMachine: Bool { status.code >= 500 }

  private init(_ status: HTTPResponse.Status, _ code: String, _ detail: String) {
    self.status = status
    self.code = code
    self.detail = detail
    if status == .unauthorized { headers[.wwwAuthenticate] = #"Bearer error="invalid_token""# }
    if status == .serviceUnavailable { headers[.retryAfter] = String(Self.retryAfterSeconds) }
  }

  private init(_ code: ProblemCode, _ detail: String) {
    self.init(code.status, code.rawValue, detail)
  }

  func problem(requestID: String) -> Problem {
    Problem(
      code: code, title: status.reasonPhrase, status: status.code, detail: detail, requestId: requestID, field: field,
      problems: fieldProblems)
  }

  /// - Parameter now: the time of the checked clock; nil if no header fields are sent.
  init(_ error: any Error, at now: Timestamp? = nil) {
    switch error {
    case let refusal as Refusal: self.init(refusal)
    case let error as ServiceError: self.init(error, at: now)
    case is NIOTooManyBytesError: self.init(.bodyTooLarge, "The body is too large for this endpoint.")
    case let error as HTTPError where error.status == .contentTooLarge:
      self.init(.bodyTooLarge, "The body is too large for this endpoint.")
    default: self.init(.internalError, Self.failure)
    }
  }

  private static let failure = "The server failed. Its log has details under the requestId."

  private init(_ refusal: Refusal) {
    switch refusal {
    case .accessTokenMissing:
      self.init(.accessTokenMissing, "Send a token in the Authorization header: Bearer <token>.")
      headers[.wwwAuthenticate] = "Bearer"
    case .accessTokenInvalid:
      self.init(.accessTokenInvalid, "The token was not issued by this server. Log in again.")
    case .accessTokenExpired:
      self.init(.accessTokenExpired, "The token has expired. Refresh the session.")
      headers[.wwwAuthenticate] = #"Bearer error="invalid_token", error_description="expired""#
    case .ticketInvalid:
      self.init(
        .ticketInvalid, "The ticket was used before or has expired. Get a new one with POST /v1/sync/tickets.")
    case .signatureInvalid:
      self.init(
        .signatureInvalid,
        "The server did not sign this URL. Use a URL of POST /v1/media/urls unchanged, or send a token.")
    case .signatureExpired:
      self.init(.signatureExpired, "The URL has expired. Get a new one with POST /v1/media/urls.")
    case .refreshTokenInvalid:
      self.init(.refreshTokenInvalid, "The refresh token was not issued by this server. Log in again.")
    case .idTokenInvalid(let flaw):
      self.init(.idTokenInvalid, "The ID token was rejected: \(flaw.detail).")
    case .idTokenExpired:
      self.init(
        .idTokenExpired,
        "The ID token has expired or, to delete an account, is older than ten minutes. Get a new one from its issuer.")
    case .issuerUnavailable:
      self.init(.issuerUnavailable, "The keys of the token's issuer cannot be fetched. Try again shortly.")
    case .actingUserRequired:
      self.init(
        .actingUserRequired, "With a service token, this request needs the header \(HeaderName.actAs) with a user's ID."
      )
    case .invalidActAs: self.init(.invalidActAs, "\(HeaderName.actAs) must be a user's UUID.")
    case .invalidJSON(.empty): self.init(.invalidJSON, "The body is empty. Send a JSON object.")
    case .invalidJSON(let flaw): self.init(.invalidJSON, "The JSON body was rejected: \(flaw.detail)")
    case .invalidUTF8: self.init(.invalidUTF8, "The body is not valid UTF-8.")
    case .invalidFields(let problems):
      let code = problems.first.flatMap { ProblemCode(rawValue: $0.code) } ?? .invalidField
      self.init(code, problems.first?.detail ?? "A field is invalid.")
      field = problems.first?.field
      if problems.count > 1 { fieldProblems = problems }
    case .invalidField(let why, let pointer):
      self.init(.invalidField, why)
      field = pointer
    case .invalidID(let name): self.init(.invalidID, "\(name) must be a UUID, and not the nil UUID.")
    case .invalidQuery(let why): self.init(.invalidQuery, why)
    case .invalidCursor:
      self.init(.invalidCursor, "The cursor does not belong to this list. Start without a cursor.")
    case .cursorUnknown:
      self.init(
        .cursorUnknown,
        "The cursor is not from this server's current log. Discard what you have, and start again without a cursor.")
    case .invalidIdempotencyKey:
      self.init(
        .invalidIdempotencyKey,
        "Send one \(HeaderName.idempotencyKey), with 1 to \(CommandID.keyBytes) characters of printable ASCII.")
    case .invalidIfMatch:
      self.init(.invalidIfMatch, "If-Match must be a comma-separated list of revisions in quotes, or *.")
    case .ifMatchUnsupported:
      self.init(.ifMatchUnsupported, "The resource has no revision. Omit If-Match.")
    case .unsupportedMediaType:
      self.init(
        .unsupportedMediaType, "Send application/json (application/x-ndjson for ingest), in UTF-8 and not compressed.")
    case .tooManyMarksInTarget:
      self.init(
        .invalidQuery, "A path and its query can have at most \(Limits.combiningMarks) combining marks in a row.")
    case .tooManyMarksInHeader:
      self.init(.headersTooLarge, "A header field can have at most \(Limits.combiningMarks) combining marks in a row.")
    case .invalidForm(let rule): self.init(.invalidForm, "The form (multipart/form-data) was rejected: \(rule).")
    case .malformedRequest(let rule):
      self.init(.malformedRequest, "The request is not valid HTTP: \(rule).")
      // The server cannot know where the next request begins.
      headers[.connection] = "close"
    case .targetTooLong:
      self.init(.targetTooLong, "A path and its query can have at most \(Limits.requestTargetBytes) bytes.")
    case .headersTooLarge:
      self.init(
        .headersTooLarge,
        "A request can have at most \(Limits.headerFields) header fields with \(Limits.headerBytes) bytes.")
    case .rateLimited(let rateStatus):
      self.init(
        .rateLimited,
        "Too many requests: the limit \"\(rateStatus.name)\" was reached. Try again after the seconds in Retry-After.")
      headers = RateLimiter.fields([rateStatus])
      headers[.retryAfter] = String(rateStatus.reset)
    case .tooManyAttempts(let seconds):
      self.init(
        .tooManyAttempts, "Too many failed logins or wrong codes. Try again after the seconds in Retry-After.")
      headers[.retryAfter] = String(seconds)
    case .tooManyStreams:
      self.init(
        .tooManyStreams,
        "You already have \(Limits.ingestStreamsOfUser) open ingest streams. Send this one when another has ended.")
      headers[.retryAfter] = String(Self.retryAfterSeconds)
    case .tooManyUploadsOfAddress:
      let problem = MediaProblem.tooManyUploads
      self.init(
        problem.status, problem.rawValue,
        "Your address already has \(Limits.uploadsOfAddress) uploads in progress. Send this again when one has ended.")
      headers[.retryAfter] = String(Self.retryAfterSeconds)
    case .tooManySessionsOfAddress:
      self.init(
        .tooManyStreams,
        "Your address already has \(Limits.engineSessionsOfAddress) sessions of Socket.IO. Open this one when another has ended."
      )
      headers[.retryAfter] = String(Self.retryAfterSeconds)
    case .bodyTooLarge(let limit): self.init(.bodyTooLarge, "A body can have at most \(limit) bytes.")
    case .tooManyLines(let limit): self.init(.bodyTooLarge, "A body can have at most \(limit) lines.")
    case .tooManyRefusedLines(let limit):
      self.init(
        .rateLimited,
        "A rate limit rejected \(limit) lines in a row, so the stream ends here. Send the rest later.")
    case .rangeNotSatisfiable(let size):
      self.init(.rangeNotSatisfiable, "The range begins beyond the end of the file, which has \(size) bytes.")
      headers[.contentRange] = "bytes */\(size)"
    case .lineTooLong(let limit): self.init(.lineTooLong, "A line can have at most \(limit) bytes.")
    case .unready(let why): self.init(.projectionBehind, why)
    case .tooManyCommands:
      self.init(
        .tooManyCommands,
        "\(Limits.refusedCommandsInARow) commands in a row were malformed or rejected by a rate limit, so the stream ends here."
      )
    case .tooManyControlFrames:
      self.init(
        .tooManyCommands,
        "The client sent more than \(Limits.controlFramesPerSecond) pings and pongs per second, so the stream ends here."
      )
    case .originNotAllowed:
      self.init(.originNotAllowed, "Web pages of this origin may not use the server. The operator can allow it.")
    case .findingNotAllowed(let property):
      self.init(.findingNotAllowed, "This server does not let users find others by their \(property).")
    case .upgradeRequired:
      self.init(.upgradeRequired, "This path is a WebSocket (RFC 6455), version \(WebSocketHandshake.version).")
      headers[.upgrade] = "websocket"
      headers[.secWebSocketVersion] = WebSocketHandshake.version
    case .webSocketMalformed(let rule): self.init(.webSocketMalformed, "The WebSocket breaks a rule: \(rule).")
    case .invalidFrame(let why): self.init(.invalidFrame, why)
    case .frameTooLarge(let limit): self.init(.frameTooLarge, "A message can have at most \(limit) bytes.")
    case .authenticationTimeout:
      self.init(
        .authenticationTimeout,
        "Authenticate within \(Limits.streamAuthenticationSeconds) seconds after the connection is open.")
    case .namespaceUnknown:
      self.init(.namespaceUnknown, "Unknown namespace. Use / for everything, or /rooms-ID for one room.")
    case .routeNotFound:
      self.init(.routeNotFound, "Unknown path. GET \(Endpoints.openAPIDocument.path) lists all paths.")
    case .methodNotAllowed(let allowed):
      self.init(.methodNotAllowed, "This path supports only \(allowed.joined(separator: ", ")).")
      headers[.allow] = allowed.joined(separator: ", ")
    case .pushNotExplained(.unknownPosition(let head)):
      self.init(.positionNotFound, "The log has no event at this position. Its positions are 1 to \(head).")
    case .projectionNotFound:
      self.init(.projectionNotFound, "Unknown read model. GET \(Endpoints.listProjections.path) lists them.")
    case .pushNotExplained(.notifiesNobody):
      self.init(.notifiesNobody, "Events of this type notify nobody. Send the position of another event.")
    case .pushNotExplained(.tookTooLong):
      self.init(
        .logTooLong,
        "Reading the log took more than \(Limits.pushExplanationSeconds) seconds. Use the tool `hansard push explain`.")
    }
  }

  private init(_ error: ServiceError, at now: Timestamp?) {
    switch error {
    case .rejected(.quotaExceeded):
      self.init(Rejection.quotaExceeded.status, Rejection.quotaExceeded.rawValue, Rejection.quotaExceeded.detail)
      if let now { headers[.retryAfter] = String(UsageDay(of: now).secondsLeft(at: now)) }
    case .rejected(let rejection):
      self.init(rejection.status, rejection.rawValue, rejection.detail)
      field = rejection.field
    case .malformed(let flaws):
      let problems = flaws.prefix(FieldProblem.limit).map { FieldProblem($0) }
      self.init(
        flaws.first?.status ?? .unprocessableContent, problems.first?.code ?? ProblemCode.invalidField.rawValue,
        problems.first?.detail ?? "A field is invalid.")
      field = problems.first.flatMap { $0.field.isEmpty ? nil : $0.field }
      if problems.count > 1 { fieldProblems = problems }
    case .invalid(let input): self.init(input.status, input.rawValue, input.detail)
    case .media(.tooLarge(let limit)): self.init(.bodyTooLarge, "A file can have at most \(limit) bytes.")
    case .media(.problem(let problem)):
      self.init(problem.status, problem.rawValue, problem.detail)
      if problem == .tooManyUploads { headers[.retryAfter] = String(Self.retryAfterSeconds) }
    case .unreadable(let cause): self.init(cause, at: now)
    case .overloaded: self.init(.overloaded, "The server is overloaded. Try again shortly.")
    case .tooManyStreams:
      self.init(
        .tooManyStreams,
        """
        A user can have \(Limits.streamsOfUser) open streams, and a device \(Limits.streamsOfDevice). Open this one when \
        another has ended.
        """)
      headers[.retryAfter] = String(Self.retryAfterSeconds)
    case .projectionBehind: self.init(.projectionBehind, "The read models are catching up. Try again shortly.")
    case .logPoisoned:
      self.init(
        .logPoisoned,
        "The event log failed, so the server accepts no writes. The server log has the cause.")
    case .shuttingDown: self.init(.shuttingDown, "The server is shutting down. Try again shortly.")
    // After `cancelled`, nobody reads the response.
    case .failed, .cancelled: self.init(.internalError, Self.failure)
    }
  }

  /// The `errno` values after a client closed or reset its connection.
  private static let lostConnection: Set<Int32> = [ECONNRESET, EPIPE, ETIMEDOUT]

  /// Whether the client caused the error: it closed or reset its connection, or sent invalid HTTP. The server did not
  /// fail.
  static func isCausedByClient(_ error: any Error) -> Bool {
    switch error {
    case ServiceError.cancelled, Refusal.malformedRequest, Refusal.headersTooLarge: true
    case ServiceError.unreadable(let cause): isCausedByClient(cause)
    case let error as IOError: lostConnection.contains(error.errnoCode)
    default: error is CancellationError || error is ChannelError || error is NIOAsyncWriterError
    }
  }
}
