import HTTPTypes

/// Which web pages may open a WebSocket. Browsers send the page's origin, but do not apply CORS to WebSockets, so the server
/// has to refuse (RFC 6455, section 10.2).
struct OriginRule: Sendable {
  private let allowsAll: Bool
  private let origins: Set<String>

  init(_ settings: CrossOriginSettings) {
    allowsAll = settings.origins.contains("*")
    origins = Set(settings.origins)
  }

  /// A request without an origin is not from a web page. A page of the server's own host is always allowed.
  func allows(_ request: HTTPRequest) -> Bool {
    guard let origin = request.headerFields[.origin] else { return true }
    if allowsAll || origins.contains(origin) { return true }
    guard let authority = request.authority else { return false }
    return ["https://", "http://"].contains { origin.lowercased() == $0 + authority.lowercased() }
  }
}
