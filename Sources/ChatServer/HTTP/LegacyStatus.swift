import ChatDomain
import HTTPTypes

/// The status numbers that apps of before expect where a token has expired, instead of 401. Neither is registered with
/// IANA for this.
package struct LegacyStatus: Sendable, Hashable {
  static let accessTokenExpired = HTTPResponse.Status(code: 419, reasonPhrase: "Access Token Expired")
  static let refreshTokenExpired = HTTPResponse.Status(code: 418, reasonPhrase: "Refresh Token Expired")

  package var isOn: Bool

  package init(isOn: Bool = false) {
    self.isOn = isOn
  }

  /// - Returns: nil where the problem keeps its status.
  func status(of code: String) -> HTTPResponse.Status? {
    guard isOn else { return nil }
    switch code {
    case ProblemCode.accessTokenExpired.rawValue: return Self.accessTokenExpired
    case Rejection.refreshTokenExpired.rawValue: return Self.refreshTokenExpired
    default: return nil
    }
  }
}
