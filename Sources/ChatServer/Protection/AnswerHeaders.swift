import HTTPTypes

/// What every answer says unless it says otherwise itself.
enum AnswerHeaders {
  /// Answers are for who asked, and change: nobody is to keep them. What they are is what they say they are (WHATWG
  /// Fetch, section 3.8).
  static func complete(_ fields: inout HTTPFields) {
    if fields[.cacheControl] == nil { fields.append(HTTPField(name: .cacheControl, value: "no-store")) }
    fields.append(HTTPField(name: .xContentTypeOptions, value: "nosniff"))
  }
}

extension HTTPField.Name {
  static let rateLimit = HTTPField.Name.own("RateLimit")
  static let rateLimitPolicy = HTTPField.Name.own("RateLimit-Policy")
  static let xForwardedFor = HTTPField.Name.own("X-Forwarded-For")
}
