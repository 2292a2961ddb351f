/// An endpoint: how to address a request, who may make it, and the shapes of both bodies. Server and client use the
/// same value, so a handler or a call with another shape does not compile.
public struct Endpoint<Request: BodyShape, Response: BodyShape>: Sendable {
  public let erased: AnyEndpoint

  init(
    _ method: AnyEndpoint.Method, _ path: String, _ access: AnyEndpoint.Access, query: [String] = [],
    ignoresTokens: Bool = false, takesIfMatch: Bool = false
  ) {
    erased = AnyEndpoint(
      method: method, path: path, access: access, query: query, ignoresTokens: ignoresTokens,
      takesIfMatch: takesIfMatch, request: Request.format, response: Response.format)
  }

  public var path: String { erased.path }
}

/// An endpoint without its types, so that a list can hold all of them.
public struct AnyEndpoint: Sendable {
  public enum Method: String, Sendable {
    case get = "GET"
    case put = "PUT"
    case post = "POST"
    case patch = "PATCH"
    case delete = "DELETE"
  }

  /// Which token the endpoint requires.
  public enum Access: String, Sendable {
    /// No token. A service token is used if it is present. A user's token is ignored, so that an expired one causes no
    /// error.
    case open
    /// A user's access token, or a service token with `Hansard-Act-As`.
    case user
    /// One of these tokens; a service may also act for itself.
    case userOrService
    /// Only a service token.
    case service
  }

  public let method: Method
  /// With parameters in braces, as in `docs/openapi.yaml`.
  public let path: String
  public let access: Access
  /// The parameters that its query may have.
  public let query: [String]
  /// The response does not depend on the caller, so tokens are ignored, valid or not.
  public let ignoresTokens: Bool
  /// What it changes has a revision, which `If-Match` can name.
  public let takesIfMatch: Bool
  public let request: BodyFormat
  public let response: BodyFormat

  /// Whether it responds with a list, which has an entity tag.
  public var returnsList: Bool {
    guard case .json(let shape) = response else { return false }
    return shape is any ListObject.Type
  }
}

extension AnyEndpoint: CustomStringConvertible {
  /// Method and path, which together are unique to an endpoint.
  public var description: String { "\(method.rawValue) \(path)" }
}

/// The names of the headers that the API uses besides the standard ones.
public enum HeaderName {
  /// Identifies a mutation: a UUID, or any other short text. A repeat with the same key always gets the same response as the first time.
  public static let idempotencyKey = "Idempotency-Key"
  /// The user in whose name a request with a service token acts.
  public static let actAs = "Hansard-Act-As"
  /// In the response to a write that recorded nothing, because it was done before.
  public static let idempotentReplayed = "Idempotent-Replayed"
  /// In every response: the ID of the request, which the server's log has too. It is also the `requestId` of a problem.
  public static let requestID = "X-Request-Id"
}
