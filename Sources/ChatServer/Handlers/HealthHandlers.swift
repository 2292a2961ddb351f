import ChatPrimitives
import ChatProjections
import ChatProtocol
import ChatService
import Hummingbird

struct HealthHandlers: Sendable {
  let chat: ChatService
  /// The status of push; nil if push is off.
  let push: (@Sendable () -> PushStatus)?

  /// Whether the process responds.
  func health(_ context: HansardRequestContext) async throws -> TypedResponse<Health> {
    try JSONBody.response(Health(status: "ok"))
  }

  /// Whether requests are served: the log accepts events and the read models follow it. If the search index or the push
  /// outbox is being built or does not follow the log, or a push provider is stopped, the server is ready but degraded.
  func readiness(_ context: HansardRequestContext) async throws -> TypedResponse<Readiness> {
    var status = chat.status
    let push = push?()
    if let push { status.optional.append(push.outbox) }
    if status.isPoisoned { throw ServiceError.logPoisoned }
    if let unready = status.unready { throw Refusal.unready(Self.detail(unready)) }
    let providers = push?.providers ?? []
    let isDegraded = status.isDegraded || providers.contains { $0.state == .stopped }
    return try JSONBody.response(
      Readiness(
        status: isDegraded ? "degraded" : "ready", head: status.head,
        projections: (status.readModels + status.optional).map { model in
          ProjectionReadiness(
            name: model.name, position: model.position,
            lag: Int(clamping: status.head.distance(from: model.position)),
            fault: model.fault?.description ?? Self.progress(model))
        }, clock: ClockReadiness(chat.clockStatus), storage: StorageReadiness(chat.storage.status),
        pushProviders: providers.isEmpty
          ? nil
          : providers.map { PushProviderReadiness(name: $0.name, state: $0.state.rawValue, detail: $0.reason) }))
  }

  /// Trusts the system clock, because an operator confirmed that it is right.
  func confirmClock(_ context: HansardRequestContext) async throws -> TypedResponse<ClockReadiness> {
    try await chat.confirmClock()
    return try JSONBody.response(ClockReadiness(chat.clockStatus))
  }

  private static func detail(_ model: ProjectionStatus) -> String {
    let fault = model.fault.map { "Not ready: \($0)" }
    return [fault, progress(model)].compactMap { $0 }.joined(separator: " ")
  }

  /// The progress of a read model that is being built; nil if it can be read.
  private static func progress(_ model: ProjectionStatus) -> String? {
    model.target.map { target in
      "The read model \(model.name) is being built: it has applied \(model.position) of \(target) events."
    }
  }
}

extension StorageReadiness {
  fileprivate init(_ status: StorageStatus) {
    self.init(status: status.level.rawValue, freeBytes: status.freeBytes, detail: nil)
    switch status.level {
    case .ok: break
    case .low: detail = "Disk space is low. Free some space; the server's log names the directory."
    case .full:
      detail = "The disk is full. Free some space now; the server's log names the directory. \(status.failures)"
    }
  }
}

extension ClockReadiness {
  fileprivate init(_ status: ClockStatus) {
    self.init(
      status: "ok", time: status.time, systemAheadSeconds: (status.heldAhead ?? 0) / 1000,
      trustedInSeconds: status.trustedIn.map { ($0 + 999) / 1000 }, logAheadSeconds: status.logAhead / 1000,
      detail: nil)
    if status.heldAhead != nil {
      self.status = "jump_held"
      detail = """
        The system clock jumped ahead and is not trusted. If it is wrong, correct it. If it is right, send POST \
        \(Endpoints.confirmClock.path).
        """
    } else if status.logAhead > 0 {
      self.status = "behind_log"
      detail = """
        The system clock is behind the last time in the log. If it is wrong, correct it. If it is right, it was ahead \
        when the log was written, and no action is needed.
        """
    }
  }
}
