/// An error in the format of RFC 9457, with a stable code; `docs/errors.md` lists the codes.
public struct Problem: Codable, Sendable, Hashable {
  public static let contentType = "application/problem+json"

  /// `urn:hansard:problem:<code>`
  public let type: String
  public let title: String
  public let status: Int
  /// What was wrong with this request, and what to do next.
  public let detail: String
  public let code: String
  /// The server's log contains it too.
  public let requestId: String

  public init(code: String, title: String, status: Int, detail: String, requestId: String) {
    type = "urn:hansard:problem:\(code)"
    self.title = title
    self.status = status
    self.detail = detail
    self.code = code
    self.requestId = requestId
  }
}
