package import ChatPrimitives

/// What a client asks of one room, by family. `CommandContext` says who asks.
package enum RoomCommand: Sendable, Equatable {
  case lifecycle(Lifecycle)
  case sharing(Sharing)
  case members(Members)
  case messages(Messages)
  case annotations(Annotations)
  case reading(Reading)
  case threads(Threads)
  case scheduling(Scheduling)
  case reports(Reports)
  case erasing(Erasing)
}

extension RoomCommand: AggregateCommand {
  package typealias Entity = ChatPrimitives.Entity.Room

  private var family: any AggregateCommand<Entity> {
    switch self {
    case .lifecycle(let command): command
    case .sharing(let command): command
    case .members(let command): command
    case .messages(let command): command
    case .annotations(let command): command
    case .reading(let command): command
    case .threads(let command): command
    case .scheduling(let command): command
    case .reports(let command): command
    case .erasing(let command): command
    }
  }

  package func fingerprint(by actor: UserID?) -> Fingerprint { family.fingerprint(by: actor) }
  package var isKnownByItself: Bool { family.isKnownByItself }
  package var fieldFlaws: [FieldFlaw] { family.fieldFlaws }

  package func addKeys(to lookup: inout Lookup, on room: RoomID, by actor: UserID?) {
    family.addKeys(to: &lookup, on: room, by: actor)
  }
}
