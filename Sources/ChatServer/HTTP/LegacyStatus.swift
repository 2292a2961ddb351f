import ChatProtocol
import HTTPTypes

/// The status codes that older apps expect for a token that is no longer valid, instead of 401. Neither is registered with
/// IANA for this.
package struct LegacyStatus: Sendable, Hashable {
  static let accessTokenExpired = HTTPResponse.Status(code: 419, reasonPhrase: "Access Token Expired")
  static let refreshTokenRejected = HTTPResponse.Status(code: 418, reasonPhrase: "Refresh Token Rejected")

  static let all = [accessTokenExpired, refreshTokenRejected]

  package var isOn: Bool

  package init(isOn: Bool = false) {
    self.isOn = isOn
  }

  /// - Parameter route: the declared path of the request; nil if there is none.
  /// - Returns: nil if the problem keeps its status.
  func status(of problem: ProblemMapping, on route: String?) -> HTTPResponse.Status? {
    guard isOn else { return nil }
    // Whatever is wrong with a refresh token or its account, these apps show their login only after this status.
    if route == Endpoints.refreshSession.path, [.unauthorized, .forbidden].contains(problem.status) {
      return Self.refreshTokenRejected
    }
    return problem.code == ProblemCode.accessTokenExpired.rawValue ? Self.accessTokenExpired : nil
  }
}
