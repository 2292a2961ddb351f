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
  /// The log no longer accepts events.
  package let isPoisoned: Bool

  /// The first of `readModels` that is being built or does not follow the log; nil if none.
  package var unready: ProjectionStatus? { readModels.first { !$0.isReadable } }
  /// Whether one of `optional` is being built or does not follow the log.
  package var isDegraded: Bool { !optional.allSatisfy(\.isReadable) }
}

extension ChatService {
  /// The sixteen bytes that identify the log.
  package var logIdentity: UUIDBytes { store.log.identity.bytes }

  /// Without the push outbox, which belongs to `ChatPush`.
  package var status: ServiceStatus {
    ServiceStatus(
      head: store.head, readModels: readModels.statuses, optional: readModels.optionalStatuses,
      isPoisoned: pipeline.poison != nil)
  }
}
