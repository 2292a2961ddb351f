import ChatPrimitives
import ChatProtocol
import ChatService
import Hummingbird

struct HealthHandlers: Sendable {
  let chat: ChatService

  /// Whether the process answers.
  func health(_ exchange: Exchange) async throws -> Response {
    try JSONBody.answer(Health(status: "ok"))
  }

  /// Whether requests are served: the log takes events and no read model has halted.
  func readiness(_ exchange: Exchange) async throws -> Response {
    let standing = chat.standing
    if standing.isPoisoned { throw ServiceError.logPoisoned }
    if standing.isHalted { throw ServiceError.projectionBehind }
    return try JSONBody.answer(
      Readiness(
        status: "ready", head: standing.head,
        projections: standing.readModels.map { model in
          ProjectionReadiness(
            name: model.name, position: model.position,
            lag: Int(clamping: standing.head.distance(from: model.position)))
        }))
  }
}
