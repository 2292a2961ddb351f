package import ChatPrimitives

/// What the decisions about one workspace depend on.
package enum WorkspaceState: Sendable, Equatable {
  case absent
  case open(Workspace)
  /// The fingerprint is that of the creation.
  case deleted(Stamp, creationFingerprint: Fingerprint?)

  package var workspace: Workspace? {
    switch self {
    case .open(let workspace): workspace
    case .absent, .deleted: nil
    }
  }
}

package struct Workspace: Sendable, Equatable {
  /// The fingerprint of the creation. Nil if it was erased; then no retry can be recognised.
  package var creationFingerprint: Fingerprint?
  package var created: Stamp
  /// Where its name, topic or picture last changed; otherwise its creation.
  package var revision: LogPosition
  package var members: [UserID: WorkspaceMember]
  /// Users who were invited by name and have not accepted or declined yet.
  package var invited: [UserID: Invitation]
  /// All invites that were ever created, so that a retry is always recognised.
  package var invites: [InviteID: WorkspaceInviteState]

  package init(
    creationFingerprint: Fingerprint?, created: Stamp, members: [UserID: WorkspaceMember] = [:],
    invited: [UserID: Invitation] = [:], invites: [InviteID: WorkspaceInviteState] = [:]
  ) {
    self.creationFingerprint = creationFingerprint
    self.created = created
    revision = created.position
    self.members = members
    self.invited = invited
    self.invites = invites
  }
}

package struct WorkspaceMember: Sendable, Hashable {
  package var role: WorkspaceRole
  package var joined: Stamp

  package init(role: WorkspaceRole, joined: Stamp) {
    self.role = role
    self.joined = joined
  }
}

/// An invitation that names a user.
package struct Invitation: Sendable, Hashable {
  package var role: WorkspaceRole
  package var made: Stamp
  /// The user who invited last; nil if a service invited for itself.
  package var maker: UserID?

  package init(role: WorkspaceRole, made: Stamp, maker: UserID? = nil) {
    self.role = role
    self.made = made
    self.maker = maker
  }
}

// MARK: - Evolve

extension WorkspaceState {
  /// The state after an event. Never fails: it accepts every event that the log can contain.
  package mutating func take(_ event: WorkspaceEvent, _ stamp: Stamp, by actor: UserID?) {
    switch self {
    case .absent:
      switch event {
      case .lifecycle(.created(let creation)):
        self = .open(Workspace(creationFingerprint: creation.fingerprint, created: stamp))
      case .erased:
        // A stream's first event is always the creation.
        self = .open(Workspace(creationFingerprint: nil, created: stamp))
      case .lifecycle, .sharing, .members, .invitations:
        break
      }
    case .open(var workspace):
      // Clearing the state first releases the payload, so that it is changed in place and not copied.
      self = .absent
      if case .lifecycle(.deleted) = event {
        self = .deleted(stamp, creationFingerprint: workspace.creationFingerprint)
      } else {
        workspace.apply(event, stamp, by: actor)
        self = .open(workspace)
      }
    case .deleted:
      break
    }
  }
}

extension Workspace {
  fileprivate mutating func apply(_ event: WorkspaceEvent, _ stamp: Stamp, by actor: UserID?) {
    switch event {
    case .lifecycle(let event): apply(event, stamp)
    case .sharing(let event): apply(event, stamp, by: actor)
    case .members(let event): apply(event, stamp)
    case .invitations(let event): apply(event, stamp, by: actor)
    case .erased: break
    }
  }
}
