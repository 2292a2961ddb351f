import ChatProtocol
import HTTPTypes

/// The headers that every response has.
enum ResponseHeaders {
  /// A response is only for its client and can change, so caches must not store it unless it has its own
  /// `Cache-Control`. Browsers must use the declared content type and not guess another (WHATWG Fetch, section 3.8).
  /// - Parameter requestID: the ID of the request in the server's log.
  static func complete(_ fields: inout HTTPFields, requestID: String) {
    fields.append(HTTPField(name: .xRequestID, value: requestID))
    if fields[.cacheControl] == nil { fields.append(HTTPField(name: .cacheControl, value: "no-store")) }
    fields.append(HTTPField(name: .xContentTypeOptions, value: "nosniff"))
  }
}

extension HTTPFields {
  /// Adds names of request fields to `Vary`, on which the response depends.
  mutating func addVary(_ names: String) {
    self[.vary] = self[.vary].map { "\($0), \(names)" } ?? names
  }
}

extension HTTPField.Name {
  static let rateLimit = HTTPField.Name.own("RateLimit")
  static let rateLimitPolicy = HTTPField.Name.own("RateLimit-Policy")
  static let xRequestID = HTTPField.Name.own(HeaderName.requestID)
  static let xForwardedFor = HTTPField.Name.own("X-Forwarded-For")
}
