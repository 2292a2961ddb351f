import ChatPrimitives
import ChatProtocol
import ChatService
import HTTPTypes
import Hummingbird
import Logging
import NIOCore

/// The outermost layer. It applies the rate limit of the address, turns errors into problem details (RFC 9457),
/// responds with 405 if a path exists only for other methods, and adds the headers that every response has.
struct ProblemMiddleware: RouterMiddleware {
  let addressRateCheck: AddressRateCheck
  let legacyStatus: LegacyStatus
  let problems: ProblemLog
  let now: @Sendable () -> Timestamp

  func handle(
    _ request: Request, context: ServerContext, next: (Request, ServerContext) async throws -> Response
  ) async throws -> Response {
    var response: Response
    var context = context
    do {
      try addressRateCheck.admit(request, &context)
      response = try await next(request, context)
    } catch let error as HTTPError where error.status == .notFound {
      response = try respond(to: Self.refusalOfPath(request), request, context)
    } catch {
      response = try respond(to: error, request, context)
    }
    ResponseHeaders.complete(&response.headers, requestID: context.id)
    // The router does not remove the body of the response to HEAD if the path is unknown, so it is removed here.
    return request.method == .head ? response.createHeadResponse() : response
  }

  private func respond(to error: any Error, _ request: Request, _ context: ServerContext) throws -> Response {
    var mapping = ProblemMapping(error, at: now())
    if let status = legacyStatus.status(of: mapping, on: context.endpointPath) { mapping.status = status }
    // HTTP/2 forbids it (RFC 9113, section 8.2.2), and NIO would end the connection.
    if context.channel.isHTTP2Stream { mapping.headers[.upgrade] = nil }
    problems.note(
      mapping, of: error, route: LoggedRoute.text(request, context), from: context.address ?? context.peer,
      to: context.logger)
    return try JSONBody.response(
      mapping.status, mapping.problem(requestID: context.id), contentType: Problem.contentType, headers: mapping.headers
    )
  }

  private static func refusalOfPath(_ request: Request) -> Refusal {
    let methods = methods(of: request.uri.path)
    if methods.isEmpty || methods.contains(request.method.rawValue) { return .routeNotFound }
    return .methodNotAllowed(allowed: methods)
  }

  /// The methods that a path supports, in alphabetical order; empty if there is no such path. A path that supports GET
  /// also supports HEAD. As in the router, a literal path takes precedence over one with a parameter.
  static func methods(of path: String) -> [String] {
    if path.split(separator: "/") == EngineEndpoint.chatPath.split(separator: "/") { return EngineEndpoint.methods }
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

extension Channel {
  /// Its parent is a connection, and that of a connection is the socket that listens.
  fileprivate var isHTTP2Stream: Bool { parent?.parent != nil }
}
