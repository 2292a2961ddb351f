import ChatDomain
import ChatPrimitives
import ChatService
import Hummingbird

/// The header fields that say who makes a request.
struct Credentials: Sendable, Hashable {
  var authorization: String?
  var actAs: String?

  init(authorization: String?, actAs: String? = nil) {
    self.authorization = authorization
    self.actAs = actAs
  }

  init(of request: Request) {
    self.init(authorization: request.headers[.authorization], actAs: request.headers[.hansardActAs])
  }
}

/// Who makes a request.
struct Caller: Sendable {
  let principal: Principal
  /// When the access token expires; nil for a service.
  let expiresAt: Timestamp?
  let credentials: Credentials
  /// Whether the URL itself is the authorization.
  var hasSignedURL = false
}
