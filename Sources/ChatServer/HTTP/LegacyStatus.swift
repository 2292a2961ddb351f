import ChatDomain
import HTTPTypes

/// The status codes that older apps expect for an expired token, instead of 401. Neither is registered with IANA for
/// this.
package struct LegacyStatus: Sendable, Hashable {
  static let accessTokenExpired = HTTPResponse.Status(code: 419, reasonPhrase: "Access Token Expired")
  static let refreshTokenExpired = HTTPResponse.Status(code: 418, reasonPhrase: "Refresh Token Expired")

  package var isOn: Bool

  package init(isOn: Bool = false) {
    self.isOn = isOn
  }

  /// - Returns: nil if the problem keeps its status.
  func status(of code: String) -> HTTPResponse.Status? {
    guard isOn else { return nil }
    switch code {
    case ProblemCode.accessTokenExpired.rawValue: return Self.accessTokenExpired
    case Rejection.refreshTokenExpired.rawValue: return Self.refreshTokenExpired
    default: return nil
    }
  }
}
