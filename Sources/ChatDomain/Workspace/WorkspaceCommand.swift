package import ChatPrimitives

/// What a client asks of one workspace, by family. `CommandContext` says who asks.
package enum WorkspaceCommand: Sendable, Equatable {
  case lifecycle(Lifecycle)
  case sharing(Sharing)
  case members(Members)
  case invitations(Invitations)
}

extension WorkspaceCommand: AggregateCommand {
  package typealias Entity = ChatPrimitives.Entity.Workspace

  private var family: any AggregateCommand<Entity> {
    switch self {
    case .lifecycle(let command): command
    case .sharing(let command): command
    case .members(let command): command
    case .invitations(let command): command
    }
  }

  package func fingerprint(by actor: UserID?) -> Fingerprint { family.fingerprint(by: actor) }
  package var isKnownByItself: Bool { family.isKnownByItself }
  package var fieldFlaws: [FieldFlaw] { family.fieldFlaws }

  package func addKeys(to lookup: inout Lookup, on workspace: WorkspaceID, by actor: UserID?) {
    family.addKeys(to: &lookup, on: workspace, by: actor)
  }
}
