package import ChatPrimitives
package import ChatProjections
import EventLog
import EventStore

/// The status of the server, for health checks.
package struct ServiceStatus: Sendable {
  /// The last durable position.
  package let head: LogPosition
  /// The read models that requests wait for.
  package let readModels: [ProjectionStatus]
  /// The read models that the server does not need to be ready: the search index, which only searches need, and the
  /// push outbox if push is on.
  package var optional: [ProjectionStatus]
  /// The number of commands that wait for the writer.
  package let queuedCommands: Int
  /// The log no longer accepts events.
  package let isPoisoned: Bool

  /// The first of `readModels` that is being built or does not follow the log; nil if none.
  package var unready: ProjectionStatus? { readModels.first { !$0.isReadable } }
  /// Whether one of `optional` is being built or does not follow the log.
  package var isDegraded: Bool { !optional.allSatisfy(\.isReadable) }
}

/// The state of push, for health checks.
package struct PushStatus: Sendable {
  package let outbox: ProjectionStatus
  /// Empty for a webhook or a file.
  package let providers: [PushProviderStatus]

  package init(outbox: ProjectionStatus, providers: [PushProviderStatus]) {
    self.outbox = outbox
    self.providers = providers
  }
}

/// The state of one push provider, for health checks.
package struct PushProviderStatus: Sendable, Hashable {
  package enum State: String, Sendable {
    case running
    /// The provider asked for a pause, or cannot be reached. It is tried again.
    case paused
    /// The provider accepts no notifications until an operator corrects what `reason` says.
    case stopped
  }

  package let name: String
  package let state: State
  /// Why it is not running and what to do. If it is running: what it last refused, perhaps because of a wrong key or topic,
  /// until it accepts a notification. Otherwise nil.
  package let reason: String?

  package init(name: String, state: State, reason: String?) {
    self.name = name
    self.state = state
    self.reason = reason
  }
}

extension ChatService {
  /// Rebuilds a read model beside the running server. Does nothing while a rebuild of it is running.
  package func startRebuild(of projection: String) throws(ServiceError) {
    do {
      try readModels.startRebuild(of: projection)
    } catch {
      throw .projectionBehind
    }
  }

  /// The sixteen bytes that identify the log.
  package var logIdentity: UUIDBytes { store.log.identity.bytes }

  /// Without the push outbox, which belongs to `ChatPush`.
  package var status: ServiceStatus {
    ServiceStatus(
      head: store.head, readModels: readModels.statuses, optional: readModels.optionalStatuses,
      queuedCommands: pipeline.queueCount, isPoisoned: pipeline.poison != nil)
  }
}
