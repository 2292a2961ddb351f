import ChatProtocol
import HTTPTypes
import Hummingbird

/// Which web pages may use the API from a browser.
package struct CrossOriginSettings: Sendable, Hashable {
  /// Origins such as `https://app.example.org`, or `*` for all. If there are none, cross-origin requests are not
  /// allowed.
  package var origins: [String] = []
  /// How long a browser may cache the response to a preflight request, in seconds.
  package var maximumAge = 600

  package init() {}
}

/// Lets web pages of the allowed origins read responses (WHATWG Fetch, section 3.2, CORS). A page must set the header
/// with the token itself and the browser's own credentials are never allowed, so `*` is safe.
struct CrossOrigin: RouterMiddleware {
  private let allowsAll: Bool
  private let origins: Set<String>
  private let maximumAge: String

  /// - Returns: nil if no origin is allowed.
  init?(_ settings: CrossOriginSettings) {
    guard !settings.origins.isEmpty else { return nil }
    allowsAll = settings.origins.contains("*")
    origins = Set(settings.origins)
    maximumAge = String(settings.maximumAge)
  }

  /// The headers that a page may send.
  private static let requestHeaders = [
    "Authorization", "Content-Type", HeaderName.idempotencyKey, HeaderName.actAs, "If-Match", "If-None-Match", "Range",
    "If-Range", "Last-Event-ID", "traceparent", "tracestate",
  ].joined(separator: ", ")

  /// The headers that a page may read, besides those that every page may read.
  private static let exposedHeaders = [
    "Retry-After", "RateLimit", "RateLimit-Policy", "WWW-Authenticate", "Allow", "ETag", "Location", "Content-Range",
    "Accept-Ranges", "Content-Disposition", HeaderName.idempotentReplayed,
    HeaderName.requestID,
  ].joined(separator: ", ")

  func handle(
    _ request: Request, context: ServerContext, next: (Request, ServerContext) async throws -> Response
  ) async throws -> Response {
    guard let origin = request.headers[.origin], allowsAll || origins.contains(origin) else {
      var response = try await next(request, context)
      complete(&response.headers)
      return response
    }
    if request.method == .options, request.headers[.accessControlRequestMethod] != nil {
      let methods = ProblemMiddleware.methods(of: request.uri.path)
      if !methods.isEmpty { return preflight(origin, methods) }
    }
    var response = try await next(request, context)
    allow(origin, &response.headers)
    response.headers[.accessControlExposeHeaders] = Self.exposedHeaders
    return response
  }

  /// Adds what a response to a request without `Origin` has.
  func complete(_ headers: inout HTTPFields) { vary(&headers, by: "Origin") }

  private func preflight(_ origin: String, _ methods: [String]) -> Response {
    var headers = HTTPFields()
    allow(origin, &headers)
    vary(&headers, by: "Access-Control-Request-Method, Access-Control-Request-Headers")
    headers[.accessControlAllowMethods] = methods.joined(separator: ", ")
    headers[.accessControlAllowHeaders] = Self.requestHeaders
    headers[.accessControlMaxAge] = maximumAge
    return Response(status: .noContent, headers: headers)
  }

  private func allow(_ origin: String, _ headers: inout HTTPFields) {
    headers[.accessControlAllowOrigin] = allowsAll ? "*" : origin
    vary(&headers, by: "Origin")
  }

  /// Adds `Vary` for caches. With `*`, the response does not depend on the origin.
  private func vary(_ headers: inout HTTPFields, by names: String) {
    if allowsAll, names == "Origin" { return }
    headers.addVary(names)
  }
}
