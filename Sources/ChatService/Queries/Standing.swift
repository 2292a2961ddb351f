package import ChatPrimitives
package import ChatProjections
import EventLog
import EventStore

/// How the server stands, for whoever asks whether it serves.
package struct ServiceStanding: Sendable {
  /// The last durable position.
  package let head: LogPosition
  package let readModels: [ProjectionStanding]
  /// The read model of the search, which no other request waits for.
  package let search: ProjectionStanding
  /// The log accepts no more events.
  package let isPoisoned: Bool

  /// The first read model other than `search` that cannot be read as of the head; nil if all can.
  package var unready: ProjectionStanding? { readModels.first { $0.fault != nil || $0.target != nil } }
  /// Whether searches fail, because their read model is being built or does not follow the log.
  package var isDegraded: Bool { search.fault != nil || search.target != nil }
}

extension ChatService {
  /// The log's sixteen bytes, which no other log has.
  package var logIdentity: UUIDBytes { store.log.identity.bytes }

  package var standing: ServiceStanding {
    ServiceStanding(
      head: store.head, readModels: views.standings, search: views.search.standing, isPoisoned: pipeline.poison != nil)
  }
}
