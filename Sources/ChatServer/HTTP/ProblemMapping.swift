import ChatDomain
import ChatProtocol
import ChatService
import HTTPTypes
import Hummingbird
import NIOCore

/// The one place that knows which HTTP status an error has.
struct ProblemMapping {
  /// Seconds after which a client may come again.
  static let retryAfterSeconds = 1

  let status: HTTPResponse.Status
  let code: String
  let detail: String
  var headers = HTTPFields()

  init(_ status: HTTPResponse.Status, _ code: String, _ detail: String) {
    self.status = status
    self.code = code
    self.detail = detail
  }

  init(_ error: any Error) {
    switch error {
    case let refusal as Refusal: self.init(refusal)
    case let error as ServiceError: self.init(error)
    case is NIOTooManyBytesError: self.init(Refusal.bodyTooLarge(limit: 0))
    case let error as HTTPError where error.status == .contentTooLarge: self.init(Refusal.bodyTooLarge(limit: 0))
    default:
      self.init(.internalServerError, "internal_error", "The server failed. Its log has more under the request's ID.")
    }
  }

  private init(_ refusal: Refusal) {
    switch refusal {
    case .accessTokenMissing:
      self.init(.unauthorized, "access_token_missing", "Send a token in the Authorization header: Bearer <token>.")
      headers[.wwwAuthenticate] = "Bearer"
    case .accessTokenInvalid:
      self.init(.unauthorized, "access_token_invalid", "The token is not one that this server issued. Log in again.")
      headers[.wwwAuthenticate] = #"Bearer error="invalid_token""#
    case .accessTokenExpired:
      self.init(.unauthorized, "access_token_expired", "The token has expired. Refresh the session.")
      headers[.wwwAuthenticate] = #"Bearer error="invalid_token", error_description="expired""#
    case .refreshTokenInvalid:
      self.init(
        .unauthorized, "refresh_token_invalid", "The refresh token is not one that this server issued. Log in again.")
      headers[.wwwAuthenticate] = #"Bearer error="invalid_token""#
    case .actingUserRequired:
      self.init(
        .badRequest, "acting_user_required",
        "A service token needs the header \(HeaderName.actAs) with a user's ID here.")
    case .invalidActAs: self.init(.badRequest, "invalid_act_as", "\(HeaderName.actAs) must hold a user's UUID.")
    case .invalidJSON(let why): self.init(.badRequest, "invalid_json", "The body is not valid JSON: \(why)")
    case .invalidUTF8: self.init(.badRequest, "invalid_utf8", "The body is not valid UTF-8.")
    case .unknownField(let name):
      self.init(.badRequest, "unknown_field", "There is no field \"\(name)\" here. Check its spelling.")
    case .invalidField(let why): self.init(.badRequest, "invalid_field", why)
    case .invalidID(let name): self.init(.badRequest, "invalid_id", "\(name) must be a UUID, and not the nil UUID.")
    case .invalidQuery(let why): self.init(.badRequest, "invalid_query", why)
    case .invalidCursor:
      self.init(.badRequest, "invalid_cursor", "The cursor is not one that this endpoint gave. Start without one.")
    case .invalidIdempotencyKey:
      self.init(.badRequest, "invalid_idempotency_key", "\(HeaderName.idempotencyKey) must be a UUID.")
    case .unsupportedMediaType:
      self.init(
        .unsupportedMediaType, "unsupported_media_type", "Send application/json, or application/x-ndjson in bulk.")
    case .bodyTooLarge(let limit):
      self.init(
        .contentTooLarge, "body_too_large",
        limit > 0 ? "A body may have \(limit) bytes at most." : "The body is larger than the endpoint takes.")
    case .lineTooLong(let limit):
      self.init(.contentTooLarge, "line_too_long", "A line may have \(limit) bytes at most.")
    case .routeNotFound: self.init(.notFound, "route_not_found", "There is no such path. See docs/openapi.yaml.")
    case .methodNotAllowed(let allowed):
      self.init(.methodNotAllowed, "method_not_allowed", "This path takes \(allowed.joined(separator: ", ")).")
      headers[.allow] = allowed.joined(separator: ", ")
    }
  }

  private init(_ error: ServiceError) {
    switch error {
    case .rejected(let rejection):
      self.init(rejection.status, rejection.rawValue, rejection.detail)
      if rejection.status == .unauthorized { headers[.wwwAuthenticate] = #"Bearer error="invalid_token""# }
    case .invalid(let input): self.init(input.status, input.rawValue, input.detail)
    case .overloaded:
      self.init(.serviceUnavailable, "overloaded", "More is under way than the server takes. Come again soon.")
      askToReturn()
    case .projectionBehind:
      self.init(.serviceUnavailable, "projection_behind", "The read models are catching up. Come again soon.")
      askToReturn()
    case .logPoisoned:
      self.init(
        .serviceUnavailable, "log_poisoned",
        "The log could not be written and takes no more events. The operator must look at the disk and restart.")
      askToReturn()
    case .shuttingDown:
      self.init(.serviceUnavailable, "shutting_down", "The server is being stopped. Come again soon.")
      askToReturn()
    case .failed:
      self.init(.internalServerError, "internal_error", "The server failed. Its log has more under the request's ID.")
    }
  }

  private mutating func askToReturn() {
    headers[.retryAfter] = String(Self.retryAfterSeconds)
  }

  /// Every code with its status, for `hansard errors` and the tests.
  static var all: [(code: String, status: Int)] {
    let refusals: [Refusal] = [
      .accessTokenMissing, .accessTokenInvalid, .accessTokenExpired, .refreshTokenInvalid, .actingUserRequired,
      .invalidActAs, .invalidJSON(""), .invalidUTF8, .unknownField(""), .invalidField(""), .invalidID(""),
      .invalidQuery(""), .invalidCursor, .invalidIdempotencyKey, .unsupportedMediaType, .bodyTooLarge(limit: 1),
      .lineTooLong(limit: 1), .routeNotFound, .methodNotAllowed(allowed: []),
    ]
    let services: [ServiceError] =
      [.overloaded, .projectionBehind, .logPoisoned, .shuttingDown, .failed("")]
      + InvalidInput.allCases.map { .invalid($0) } + Rejection.allCases.map { .rejected($0) }
    return (refusals.map { ProblemMapping($0) } + services.map { ProblemMapping($0) })
      .map { ($0.code, $0.status.code) }
  }
}
