import ChatDomain
import ChatService
import HTTPTypes

/// The codes of all problems except the domain's rejections, which have their own codes. See `docs/errors.md`.
enum ProblemCode: String, CaseIterable {
  case malformedRequest = "malformed_request"
  case accessTokenMissing = "access_token_missing"
  case accessTokenInvalid = "access_token_invalid"
  case accessTokenExpired = "access_token_expired"
  case ticketInvalid = "ticket_invalid"
  case signatureInvalid = "signature_invalid"
  case signatureExpired = "signature_expired"
  case refreshTokenInvalid = "refresh_token_invalid"
  case idTokenInvalid = "id_token_invalid"
  case idTokenExpired = "id_token_expired"
  case issuerUnavailable = "issuer_unavailable"
  case actingUserRequired = "acting_user_required"
  case invalidActAs = "invalid_act_as"
  case invalidJSON = "invalid_json"
  case invalidUTF8 = "invalid_utf8"
  case unknownField = "unknown_field"
  case invalidField = "invalid_field"
  case pushEndpointNotAllowed = "push_endpoint_not_allowed"
  case invalidForm = "invalid_form"
  case invalidID = "invalid_id"
  case invalidQuery = "invalid_query"
  case invalidCursor = "invalid_cursor"
  case cursorUnknown = "cursor_unknown"
  case invalidIdempotencyKey = "invalid_idempotency_key"
  case invalidIfMatch = "invalid_if_match"
  case ifMatchUnsupported = "if_match_unsupported"
  case unsupportedMediaType = "unsupported_media_type"
  case bodyTooLarge = "body_too_large"
  case lineTooLong = "line_too_long"
  case rangeNotSatisfiable = "range_not_satisfiable"
  case targetTooLong = "target_too_long"
  case headersTooLarge = "headers_too_large"
  case rateLimited = "rate_limited"
  case tooManyAttempts = "too_many_attempts"
  case tooManyStreams = "too_many_streams"
  case tooManyCommands = "too_many_commands"
  case originNotAllowed = "origin_not_allowed"
  case findingNotAllowed = "finding_not_allowed"
  case upgradeRequired = "upgrade_required"
  /// A handshake or a frame breaks a rule of RFC 6455.
  case webSocketMalformed = "websocket_malformed"
  case invalidFrame = "invalid_frame"
  case frameTooLarge = "frame_too_large"
  case authenticationTimeout = "authentication_timeout"
  case engineTransportUnknown = "engine_transport_unknown"
  case engineSessionUnknown = "engine_session_unknown"
  case engineMethodInvalid = "engine_method_invalid"
  case engineRequestInvalid = "engine_request_invalid"
  case engineVersionUnsupported = "engine_version_unsupported"
  case routeNotFound = "route_not_found"
  case namespaceUnknown = "namespace_unknown"
  case methodNotAllowed = "method_not_allowed"
  case positionNotFound = "position_not_found"
  case projectionNotFound = "projection_not_found"
  case notifiesNobody = "notifies_nobody"
  case logTooLong = "log_too_long"
  case overloaded = "overloaded"
  case projectionBehind = "projection_behind"
  case logPoisoned = "log_poisoned"
  case shuttingDown = "shutting_down"
  /// The client took too long to take what a stream sent.
  case readerTooSlow = "reader_too_slow"
  case internalError = "internal_error"

  var status: HTTPResponse.Status {
    switch self {
    case .accessTokenMissing, .accessTokenInvalid, .accessTokenExpired, .ticketInvalid, .signatureInvalid,
      .signatureExpired, .refreshTokenInvalid, .idTokenInvalid, .idTokenExpired:
      .unauthorized
    case .malformedRequest, .actingUserRequired, .invalidActAs, .invalidJSON, .invalidUTF8, .unknownField,
      .invalidField, .invalidForm, .invalidID, .invalidQuery, .invalidCursor, .invalidIdempotencyKey, .invalidIfMatch,
      .ifMatchUnsupported, .webSocketMalformed, .invalidFrame, .engineTransportUnknown, .engineSessionUnknown,
      .engineMethodInvalid, .engineRequestInvalid, .engineVersionUnsupported:
      .badRequest
    case .cursorUnknown: .gone
    case .unsupportedMediaType: .unsupportedMediaType
    case .bodyTooLarge, .lineTooLong, .frameTooLarge: .contentTooLarge
    case .rangeNotSatisfiable: .rangeNotSatisfiable
    case .targetTooLong: .uriTooLong
    case .headersTooLarge: .requestHeaderFieldsTooLarge
    case .rateLimited, .tooManyAttempts, .tooManyStreams, .tooManyCommands: .tooManyRequests
    case .originNotAllowed, .findingNotAllowed: .forbidden
    case .upgradeRequired: .upgradeRequired
    case .readerTooSlow, .authenticationTimeout: .requestTimeout
    case .routeNotFound, .namespaceUnknown, .positionNotFound, .projectionNotFound: .notFound
    case .methodNotAllowed: .methodNotAllowed
    case .pushEndpointNotAllowed, .notifiesNobody, .logTooLong: .unprocessableContent
    case .overloaded, .projectionBehind, .logPoisoned, .shuttingDown, .issuerUnavailable: .serviceUnavailable
    case .internalError: .internalServerError
    }
  }

  /// Every code that the server can send, with its status.
  static var everyCode: [(code: String, status: Int)] {
    allCases.map { ($0.rawValue, $0.status.code) }
      + InvalidInput.allCases.map { ($0.rawValue, $0.status.code) }
      + MediaProblem.allCases.map { ($0.rawValue, $0.status.code) }
      + Rejection.allCases.map { ($0.rawValue, $0.status.code) }
  }
}
