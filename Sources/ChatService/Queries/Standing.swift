package import ChatPrimitives
import ChatProjections
import EventLog
import EventStore

/// How the server stands, for whoever asks whether it serves.
package struct ServiceStanding: Sendable {
  package struct ReadModel: Sendable {
    package let name: String
    package let position: LogPosition
  }

  /// The last durable position.
  package let head: LogPosition
  package let readModels: [ReadModel]
  /// The log accepts no more events.
  package let isPoisoned: Bool
  /// A read model met what it cannot apply.
  package let isHalted: Bool
}

extension ChatService {
  /// The log's sixteen bytes, which no other log has.
  package var logIdentity: UUIDBytes { store.log.identity.bytes }

  package var standing: ServiceStanding {
    ServiceStanding(
      head: store.head,
      readModels: views.positions.map { ServiceStanding.ReadModel(name: $0.name, position: $0.position) },
      isPoisoned: pipeline.poison != nil, isHalted: views.halted != nil)
  }
}
