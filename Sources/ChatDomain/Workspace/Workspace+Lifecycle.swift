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

  package init(name: String, creator: UserID) {
    self.name = name
    self.creator = creator
  }

  package var fingerprint: Fingerprint {
    Fingerprint(.text("workspace.create"), .text(name), .id(creator.uuid))
  }
}

/// What is put in the place of what; nil leaves a part as it is.
package struct WorkspaceEdit: Sendable, Hashable {
  package var name: String?
  /// An empty text takes it away.
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
    case .created(let creation): creation.name.byteCount
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

// MARK: - Decide

extension WorkspaceDecider {
  static func create(
    _ creation: WorkspaceCreation, in state: WorkspaceState
  ) throws(Rejection) -> Decision<WorkspaceEvent> {
    switch state {
    case .open(let workspace):
      guard workspace.creationFingerprint == creation.fingerprint else { throw .idInUse }
      return .alreadyDone(workspace.created)
    case .deleted(_, let fingerprint):
      // It was made, and is gone.
      throw fingerprint == creation.fingerprint ? .workspaceNotFound : .idInUse
    case .absent:
      try TextRules.workspaceName(creation.name)
      return .record([.lifecycle(.created(creation)), .members(.joined(creation.creator, role: .owner, by: .service))])
    }
  }

  /// Recorded even when nothing changes: the event carries the idempotency key by which a late retry is known.
  static func edit(_ edit: WorkspaceEdit, in state: WorkspaceState) throws(Rejection) -> Decision<WorkspaceEvent> {
    _ = try workspace(state)
    if let name = edit.name { try TextRules.workspaceName(name) }
    if let topic = edit.topic { try TextRules.topic(topic) }
    return .record([.lifecycle(.edited(edit))])
  }
}

// MARK: - Evolve

extension Workspace {
  /// A creation begins the state, and a deletion ends it: see `WorkspaceState.take`.
  mutating func apply(_ event: WorkspaceEvent.Lifecycle, _ stamp: Stamp) {
    switch event {
    case .edited: revision = stamp.position
    case .created, .deleted: break
    }
  }
}
