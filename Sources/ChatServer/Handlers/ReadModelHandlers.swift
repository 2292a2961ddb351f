import ChatPrimitives
import ChatProjections
import ChatProtocol
import ChatService
import Hummingbird

/// Rebuilds of read models beside the running server. Nothing of them is recorded in the log.
struct ReadModelHandlers: Sendable {
  let chat: ChatService

  func list(_ context: HansardRequestContext) async throws -> TypedResponse<ReadModelList> {
    try JSONBody.response(
      ReadModelList(head: chat.status.head, projections: chat.readModels.overviews.map { ReadModelState($0) }))
  }

  /// A rebuild that is already running is shown, so a retry is safe.
  func rebuild(_ context: HansardRequestContext) async throws -> TypedResponse<ReadModelState> {
    let name = try context.projection
    try chat.startRebuild(of: name)
    return try JSONBody.accepted(state(of: name))
  }

  func cancel(_ context: HansardRequestContext) async throws -> TypedResponse<ReadModelState> {
    let name = try context.projection
    chat.readModels.cancelRebuild(of: name)
    return try JSONBody.response(state(of: name))
  }

  private func state(of name: String) throws -> ReadModelState {
    guard let found = chat.readModels.overviews.first(where: { $0.status.name == name }) else {
      throw Refusal.projectionNotFound
    }
    return ReadModelState(found)
  }
}

extension HansardRequestContext {
  /// The name of a read model that exists.
  fileprivate var projection: String {
    get throws {
      guard let name = parameters.get("name"), Projections.all.contains(where: { $0.name == name }) else {
        throw Refusal.projectionNotFound
      }
      return name
    }
  }
}

extension ReadModelState {
  init(_ overview: ReadModelOverview) {
    let status = overview.status
    let state = status.fault != nil ? "failed" : status.target != nil ? "building" : "ready"
    self.init(
      name: status.name, schemaVersion: overview.schemaVersion, state: state, position: status.position,
      problem: status.fault?.description, rebuild: overview.rebuild.map { ReadModelRebuild($0) })
  }
}

extension ReadModelRebuild {
  init(_ status: ViewRebuildStatus) {
    self.init(
      state: status.state.rawValue, position: status.position, target: status.target,
      eventsPerSecond: status.eventsPerSecond.map { Int($0.rounded()) },
      secondsLeft: status.secondsLeft.map { Int($0.rounded(.up)) },
      elapsedSeconds: Int((status.elapsed / .seconds(1)).rounded()), problem: status.problem)
  }
}
