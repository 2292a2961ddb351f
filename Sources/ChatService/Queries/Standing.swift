package import ChatPrimitives
package import ChatProjections
import EventLog
import EventStore

/// How the server stands, for whoever asks whether it serves.
package struct ServiceStanding: Sendable {
  /// The last durable position.
  package let head: LogPosition
  /// The read models that requests wait for.
  package let readModels: [ProjectionStanding]
  /// The read models that the server does not need to be ready: the search index, which only searches need, and the push
  /// outbox if push is on.
  package var optional: [ProjectionStanding]
  /// The log accepts no more events.
  package let isPoisoned: Bool

  /// The first of `readModels` that is being built or does not follow the log; nil if none.
  package var unready: ProjectionStanding? { readModels.first { !$0.isReadable } }
  /// Whether one of `optional` is being built or does not follow the log.
  package var isDegraded: Bool { !optional.allSatisfy(\.isReadable) }
}

extension ChatService {
  /// The log's sixteen bytes, which no other log has.
  package var logIdentity: UUIDBytes { store.log.identity.bytes }

  /// Without the push outbox, which belongs to `ChatPush`.
  package var standing: ServiceStanding {
    ServiceStanding(
      head: store.head, readModels: views.standings, optional: views.optionalStandings,
      isPoisoned: pipeline.poison != nil)
  }
}
