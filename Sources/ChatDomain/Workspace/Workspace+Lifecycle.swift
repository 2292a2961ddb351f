package import ChatPrimitives

extension WorkspaceEvent {
  package enum Lifecycle: Sendable, Equatable {
    case created(WorkspaceCreation)
    case edited(WorkspaceEdit)
    case deleted
  }
}

package struct WorkspaceCreation: Sendable, Hashable {
  package var name: String
  /// Becomes the owner and first member.
  package var creator: UserID
  package var topic: String?

  package init(name: String, creator: UserID, topic: String? = nil) {
    self.name = name
    self.creator = creator
    self.topic = topic
  }

  /// Without a topic, the one that workspaces had before they could be created with a topic.
  package var fingerprint: Fingerprint {
    let plain: [Fingerprint.Field] = [.text("workspace.create"), .text(name), .id(creator.uuid)]
    return Fingerprint(topic == nil ? plain : plain + [.text(topic)])
  }
}

/// The new parts of a workspace; nil leaves a part as it is.
package struct WorkspaceEdit: Sendable, Hashable {
  package var name: String?
  /// An empty text removes it.
  package var topic: String?
  package var picture: PictureEdit?

  package init(name: String? = nil, topic: String? = nil, picture: PictureEdit? = nil) {
    self.name = name
    self.topic = topic
    self.picture = picture
  }
}

/// A new picture, or none.
package enum PictureEdit: Sendable, Hashable {
  case set(MediaID)
  case remove
}

extension WorkspaceEvent.Lifecycle: EventFamily {
  package var fingerprint: Fingerprint? {
    switch self {
    case .created(let creation): creation.fingerprint
    case .edited(let edit): .edit(edit)
    case .deleted: .workspaceDeletion
    }
  }

  var textBytes: Int {
    switch self {
    case .created(let creation): creation.name.byteCount + creation.topic.byteCount
    case .edited(let edit): edit.name.byteCount + edit.topic.byteCount
    case .deleted: 0
    }
  }

  var isUpkeep: Bool {
    switch self {
    case .created, .edited: false
    case .deleted: true
    }
  }
}

extension Fingerprint {
  static func edit(_ edit: WorkspaceEdit) -> Fingerprint {
    Fingerprint([.text("workspace.edit"), .text(edit.name), .text(edit.topic)] + fields(of: edit.picture))
  }

  static var workspaceDeletion: Fingerprint { Fingerprint(.text("workspace.delete")) }
}

// MARK: - Commands

extension WorkspaceCommand {
  package enum Lifecycle: Sendable, Equatable {
    case create(WorkspaceCreation)
    case edit(WorkspaceEdit)
    case delete
  }
}

extension WorkspaceCommand.Lifecycle: AggregateCommand {
  package func fingerprint(by actor: UserID?) -> Fingerprint {
    switch self {
    case .create(let creation): creation.fingerprint
    case .edit(let edit): .edit(edit)
    case .delete: .workspaceDeletion
    }
  }

  /// A creation is recognised by the workspace's ID.
  package var isKnownByItself: Bool {
    switch self {
    case .create: true
    case .edit, .delete: false
    }
  }

  package var fieldFlaws: [FieldFlaw] {
    switch self {
    case .create(let creation): creation.fieldFlaws
    case .edit(let edit): edit.fieldFlaws
    case .delete: []
    }
  }

  package func addKeys(to lookup: inout Lookup, on workspace: WorkspaceID, by actor: UserID?) {
    switch self {
    case .create, .delete: lookup.ending = .workspace(workspace)
    case .edit: break
    }
  }
}

extension WorkspaceCreation {
  var fieldFlaws: [FieldFlaw] {
    var fields = FieldCheck()
    fields.check("/name") { () throws(Rejection) in try TextRules.workspaceName(name) }
    if let topic { fields.check("/topic") { () throws(Rejection) in try TextRules.topic(topic) } }
    return fields.flaws
  }
}

extension WorkspaceEdit {
  var fieldFlaws: [FieldFlaw] {
    var fields = FieldCheck()
    if let name { fields.check("/name") { () throws(Rejection) in try TextRules.workspaceName(name) } }
    if let topic { fields.check("/topic") { () throws(Rejection) in try TextRules.topic(topic) } }
    return fields.flaws
  }
}

// MARK: - Decide

extension WorkspaceDecider {
  func decide(
    _ command: WorkspaceCommand.Lifecycle, _ directory: borrowing some Directory
  ) throws(Rejection) -> Decision<WorkspaceEvent> {
    switch command {
    case .create(let creation): try create(creation, directory)
    case .edit(let edit): try self.edit(edit)
    case .delete: try delete()
    }
  }

  private func create(
    _ creation: WorkspaceCreation, _ directory: borrowing some Directory
  ) throws(Rejection) -> Decision<WorkspaceEvent> {
    guard creation.creator == context.actor else { throw .forbidden }
    try requireRegisteredActor(directory)
    switch state {
    case .open(let workspace):
      guard workspace.creationFingerprint == creation.fingerprint else { throw .idInUse }
      return .alreadyDone(workspace.created)
    case .deleted(_, let fingerprint):
      // A retry of the creation finds the workspace deleted.
      throw fingerprint == creation.fingerprint ? .workspaceNotFound : .idInUse
    case .absent:
      try creation.fieldFlaws.requireNone()
      return .record([.lifecycle(.created(creation)), .members(.joined(creation.creator, role: .owner, by: .service))])
    }
  }

  /// Recorded even when nothing changes: the event carries the idempotency key by which a late retry is recognised.
  private func edit(_ edit: WorkspaceEdit) throws(Rejection) -> Decision<WorkspaceEvent> {
    try requireRole(.administrator)
    if let done = try doneBefore() { return done }
    let revision = try workspace().revision
    try edit.fieldFlaws.requireNone()
    return .record([.lifecycle(.edited(edit))], revision: revision)
  }

  private func delete() throws(Rejection) -> Decision<WorkspaceEvent> {
    switch state {
    case .absent, .open: try requireRole(.owner)
    // A deleted workspace has no owner. Only a retry passes the next check.
    case .deleted: break
    }
    if let done = try doneBefore() { return done }
    return .record([.lifecycle(.deleted)], revision: try workspace().revision)
  }
}

// MARK: - Evolve

extension Workspace {
  /// `WorkspaceState.take` handles a creation and a deletion, because they replace the whole state.
  mutating func apply(_ event: WorkspaceEvent.Lifecycle, _ stamp: Stamp) {
    switch event {
    case .edited: revision = stamp.position
    case .created, .deleted: break
    }
  }
}
