package import ChatPrimitives

/// What a client asks of one user, by family. `CommandContext` says who asks.
package enum UserCommand: Sendable, Equatable {
  case account(Account)
  case logins(Logins)
  case sessions(Sessions)
  case devices(Devices)
  case media(Uploads)
  case blocks(Blocks)
  case deletion(Deletion)
}

extension UserCommand: AggregateCommand {
  package typealias Entity = ChatPrimitives.Entity.User

  private var family: any AggregateCommand<Entity> {
    switch self {
    case .account(let command): command
    case .logins(let command): command
    case .sessions(let command): command
    case .devices(let command): command
    case .media(let command): command
    case .blocks(let command): command
    case .deletion(let command): command
    }
  }

  package func fingerprint(by actor: UserID?) -> Fingerprint { family.fingerprint(by: actor) }
  package var isKnownByItself: Bool { family.isKnownByItself }
  package var fieldFlaws: [FieldFlaw] { family.fieldFlaws }

  package func addKeys(to lookup: inout Lookup, on user: UserID, by actor: UserID?) {
    family.addKeys(to: &lookup, on: user, by: actor)
  }
}
