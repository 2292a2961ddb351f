/// An endpoint: how to address a request, who may make it, and the shapes of both bodies. Server and client use the same
/// value, so that neither a handler nor a call with another shape compiles.
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

  /// Whose token the endpoint wants.
  public enum Access: String, Sendable {
    /// None. A service token that comes along counts; a user's is not looked at, so that an expired one is in nobody's
    /// way.
    case open
    /// A user's access token, or a service token with `Hansard-Act-As`.
    case user
    /// Either of these; a service may also act for itself.
    case userOrService
    /// A service token alone.
    case service
  }

  public let method: Method
  /// With parameters in braces, as in `docs/openapi.yaml`.
  public let path: String
  public let access: Access
  /// The parameters that its query may have.
  public let query: [String]
  /// Nothing depends on who asks: no token is looked at, right or wrong.
  public let ignoresTokens: Bool
  /// What it changes has a revision, which `If-Match` may name.
  public let takesIfMatch: Bool
  public let request: BodyFormat
  public let response: BodyFormat
}

extension AnyEndpoint: CustomStringConvertible {
  /// Method and path, which no two endpoints have in common.
  public var description: String { "\(method.rawValue) \(path)" }
}

/// The names of the headers that the API reads or writes beside the standard ones.
public enum HeaderName {
  /// A UUID that names a mutation: a repeat with the same key always gets the same response as the first time.
  public static let idempotencyKey = "Idempotency-Key"
  /// With a service token: the user in whose name to act.
  public static let actAs = "Hansard-Act-As"
}
