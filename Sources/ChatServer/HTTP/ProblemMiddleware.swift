import ChatProtocol
import ChatService
import HTTPTypes
import Hummingbird
import Logging

/// Turns whatever goes wrong into problem details (RFC 9457), and says 405 where a path exists for other methods.
struct ProblemMiddleware<Context: RequestContext>: RouterMiddleware {
  func handle(
    _ request: Request, context: Context, next: (Request, Context) async throws -> Response
  ) async throws -> Response {
    do {
      return try await next(request, context)
    } catch let error as HTTPError where error.status == .notFound {
      return try respond(to: Self.refusalOfPath(request), context)
    } catch {
      return try respond(to: error, context)
    }
  }

  private func respond(to error: any Error, _ context: Context) throws -> Response {
    let mapping = ProblemMapping(error)
    if mapping.code == ProblemCode.internalError.rawValue {
      // The route as it is declared: a path may hold an invite's token.
      context.logger.error(
        "a request failed", metadata: ["route": "\(context.endpointPath ?? "none")", "error": "\(error)"])
    }
    let problem = Problem(
      code: mapping.code, title: mapping.status.reasonPhrase, status: mapping.status.code, detail: mapping.detail,
      requestId: context.id)
    return try JSONBody.response(
      mapping.status, problem, contentType: Problem.contentType, headers: mapping.headers)
  }

  private static func refusalOfPath(_ request: Request) -> Refusal {
    let path = request.uri.path.split(separator: "/", omittingEmptySubsequences: false)
    let methods = Endpoints.all.filter { endpoint in
      let template = endpoint.path.split(separator: "/", omittingEmptySubsequences: false)
      return template.count == path.count
        && zip(template, path).allSatisfy { $0 == $1 || ($0.first == "{" && !$1.isEmpty) }
    }.map(\.method.rawValue)
    if methods.isEmpty || methods.contains(request.method.rawValue) { return .routeNotFound }
    return .methodNotAllowed(allowed: methods.sorted())
  }
}
