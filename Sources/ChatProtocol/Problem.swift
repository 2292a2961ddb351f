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
  /// The field of the request's body that is wrong, as a JSON pointer (RFC 6901); absent if it is not one field.
  public let field: String?
  /// Everything that is wrong with the body, if it is more than one thing. The first is the problem itself.
  public let problems: [FieldProblem]?

  public init(
    code: String, title: String, status: Int, detail: String, requestId: String, field: String? = nil,
    problems: [FieldProblem]? = nil
  ) {
    type = "urn:hansard:problem:\(code)"
    self.title = title
    self.status = status
    self.detail = detail
    self.code = code
    self.requestId = requestId
    self.field = field
    self.problems = problems
  }
}

/// What is wrong with one field of a request's body.
public struct FieldProblem: Codable, Sendable, Hashable {
  /// A JSON pointer (RFC 6901); empty for the whole body.
  public let field: String
  /// As in a problem.
  public let code: String
  public let detail: String

  public init(field: String, code: String, detail: String) {
    self.field = field
    self.code = code
    self.detail = detail
  }
}
