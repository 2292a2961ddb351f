import HTTPTypes
import Hummingbird
import ServerMetrics

/// Passes requests on, and measures them.
struct ObservedResponder<Next: HTTPResponder>: HTTPResponder where Next.Context == ServerContext {
  let next: Next
  let metrics: HTTPMetrics

  func respond(to request: Request, context: ServerContext) async throws -> Response {
    let start = ContinuousClock.now
    metrics.begin()
    do {
      let response = try await next.respond(to: request, context: context)
      end(request, context, response.status, since: start)
      return response
    } catch {
      end(request, context, nil, since: start)
      throw error
    }
  }

  private func end(
    _ request: Request, _ context: ServerContext, _ status: HTTPResponse.Status?, since start: ContinuousClock.Instant
  ) {
    metrics.end(context.endpointPath, request.method, status, start.duration(to: .now))
  }
}
