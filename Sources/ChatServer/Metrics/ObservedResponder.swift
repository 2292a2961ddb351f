import HTTPTypes
import Hummingbird
import ServerMetrics

/// Passes requests on, measures and logs them, and lets what they cause belong to their trace.
struct ObservedResponder<Next: HTTPResponder>: HTTPResponder where Next.Context == ServerContext {
  let next: Next
  let metrics: HTTPMetrics
  /// Nil if requests are not logged.
  let accessLog: AccessLog?

  func respond(to request: Request, context: ServerContext) async throws -> Response {
    let start = ContinuousClock.now
    metrics.begin()
    do {
      let response = try await respondWithinTrace(to: request, context)
      end(request, context, response, since: start)
      return response
    } catch {
      end(request, context, nil, since: start)
      throw error
    }
  }

  private func respondWithinTrace(to request: Request, _ context: ServerContext) async throws -> Response {
    guard let trace = context.trace else { return try await next.respond(to: request, context: context) }
    return try await TraceContext.$current.withValue(trace) {
      try await next.respond(to: request, context: context)
    }
  }

  private func end(
    _ request: Request, _ context: ServerContext, _ response: Response?, since start: ContinuousClock.Instant
  ) {
    let time = start.duration(to: .now)
    metrics.end(context.endpointPath, request.method, response?.status, time)
    accessLog?.write(request, context, response, time)
  }
}
