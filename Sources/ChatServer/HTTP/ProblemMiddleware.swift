import ChatPrimitives
import ChatProtocol
import ChatService
import HTTPTypes
import Hummingbird
import Logging

/// The outermost layer: admits requests, turns whatever goes wrong into problem details (RFC 9457), says 405 where a path
/// exists for other methods, and gives every answer the headers that all have.
struct ProblemMiddleware: RouterMiddleware {
  let addressRateCheck: AddressRateCheck
  let legacyStatus: LegacyStatus
  let now: @Sendable () -> Timestamp

  func handle(
    _ request: Request, context: ServerContext, next: (Request, ServerContext) async throws -> Response
  ) async throws -> Response {
    var response: Response
    do {
      var context = context
      try addressRateCheck.admit(request, &context)
      response = try await next(request, context)
    } catch let error as HTTPError where error.status == .notFound {
      response = try respond(to: Self.refusalOfPath(request), request, context)
    } catch {
      response = try respond(to: error, request, context)
    }
    AnswerHeaders.complete(&response.headers)
    // What the router has no path for is not stripped of its body there.
    return request.method == .head ? response.createHeadResponse() : response
  }

  private func respond(to error: any Error, _ request: Request, _ context: ServerContext) throws -> Response {
    var mapping = ProblemMapping(error, at: now())
    if let status = legacyStatus.status(of: mapping.code) { mapping.status = status }
    if mapping.code == ProblemCode.internalError.rawValue, !ProblemMapping.isCausedByClient(error) {
      // The route as it is declared: a path may hold an invite's token.
      context.logger.error(
        "a request failed",
        metadata: [
          "method": "\(request.method.rawValue)", "route": "\(context.endpointPath ?? "none")",
          "error": "\(LoggedError.text(error))",
        ])
    }
    return try JSONBody.response(
      mapping.status, mapping.problem(requestID: context.id), contentType: Problem.contentType, headers: mapping.headers
    )
  }

  private static func refusalOfPath(_ request: Request) -> Refusal {
    let methods = methods(of: request.uri.path)
    if methods.isEmpty || methods.contains(request.method.rawValue) { return .routeNotFound }
    return .methodNotAllowed(allowed: methods)
  }

  /// The methods that a path takes, in alphabetical order; none when there is no such path. What takes GET takes HEAD. As
  /// the router has it, a path that is spelled out goes before one with a parameter in its place.
  static func methods(of path: String) -> [String] {
    let path = path.split(separator: "/", omittingEmptySubsequences: false)
    let matching = Endpoints.all.filter { endpoint in
      let template = endpoint.path.split(separator: "/", omittingEmptySubsequences: false)
      return template.count == path.count
        && zip(template, path).allSatisfy { $0 == $1 || ($0.first == "{" && !$1.isEmpty) }
    }
    let fewest = matching.map(\.parameterCount).min()
    let methods = matching.filter { $0.parameterCount == fewest }.map(\.method.rawValue)
    return (methods.contains("GET") ? methods + ["HEAD"] : methods).sorted()
  }
}

extension AnyEndpoint {
  fileprivate var parameterCount: Int { path.count { $0 == "{" } }
}
