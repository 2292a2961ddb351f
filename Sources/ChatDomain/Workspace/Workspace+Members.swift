package import ChatPrimitives

extension WorkspaceEvent {
  package enum Members: Sendable, Equatable {
    /// Joined by a link or an invitation, or a service added the user.
    case joined(UserID, role: WorkspaceRole, by: WorkspaceJoinMethod)
    case left(UserID)
    /// Another member removed the user.
    case removed(UserID)
    /// The user was a member already; recorded for the idempotency key.
    case admissionRepeated(UserID, WorkspaceJoinMethod)
    case roleChanged(UserID, WorkspaceRole)
  }
}

/// By what a user comes into a workspace.
package enum WorkspaceJoinMethod: Sendable, Hashable {
  case link(InviteID)
  /// Was invited by name and said yes.
  case invitation
  /// A service's word, or, for the creator, the creation.
  case service
}

/// What a member may do; the raw values stand in the log, ordered by power.
package enum WorkspaceRole: UInt8, Sendable, CaseIterable, Comparable {
  /// Sees the channels that a member has let them into, and nothing else.
  case guest = 1
  case member = 2
  case administrator = 3
  case owner = 4

  package var name: String {
    switch self {
    case .guest: "guest"
    case .member: "member"
    case .administrator: "administrator"
    case .owner: "owner"
    }
  }

  package init?(name: String) {
    guard let role = WorkspaceRole.allCases.first(where: { $0.name == name }) else { return nil }
    self = role
  }

  package static func < (left: WorkspaceRole, right: WorkspaceRole) -> Bool { left.rawValue < right.rawValue }
}

extension WorkspaceEvent.Members: EventFamily {
  /// Who joined or left is not a part of it: idempotency keys are looked up within one actor.
  package var fingerprint: Fingerprint? {
    switch self {
    case .joined(_, _, let method), .admissionRepeated(_, let method): .workspaceJoining(by: method)
    case .left: .workspaceLeaving
    case .removed(let user): .workspaceRemoval(user)
    case .roleChanged(let user, let role): .workspaceRoleChange(user, role)
    }
  }

  var isUpkeep: Bool {
    switch self {
    case .left, .removed: true
    case .joined, .admissionRepeated, .roleChanged: false
    }
  }
}

extension Fingerprint {
  static func workspaceJoining(by method: WorkspaceJoinMethod) -> Fingerprint {
    switch method {
    case .link(let id): Fingerprint(.text("workspace.join"), .number(1), .id(id.uuid))
    case .invitation: Fingerprint(.text("workspace.join"), .number(2))
    case .service: Fingerprint(.text("workspace.join"), .number(3))
    }
  }

  static var workspaceLeaving: Fingerprint { Fingerprint(.text("workspace.leave")) }

  static func workspaceRemoval(_ user: UserID) -> Fingerprint {
    Fingerprint(.text("workspace.remove"), .id(user.uuid))
  }

  static func workspaceRoleChange(_ user: UserID, _ role: WorkspaceRole) -> Fingerprint {
    Fingerprint(.text("workspace.role"), .id(user.uuid), .number(Int64(role.rawValue)))
  }
}

// MARK: - Decide

extension WorkspaceDecider {
  /// By a service's word: with the role that the user's invitation gives, if there is one.
  static func join(by context: CommandContext, in state: WorkspaceState) throws(Rejection) -> Decision<WorkspaceEvent> {
    let user = try actor(of: context)
    let workspace = try workspace(state)
    if let member = workspace.members[user] { return repeated(.service, of: user, member, by: context) }
    try requirePlaceForMember(in: workspace)
    let role = workspace.invited[user].map { given($0.role, by: $0.maker, in: workspace) } ?? .member
    return .record([.members(.joined(user, role: role, by: .service))])
  }

  /// Who is a member already comes in no second time. Under a key that is recorded, for only so is its late retry known
  /// when the user has left since.
  static func repeated(
    _ method: WorkspaceJoinMethod, of user: UserID, _ member: WorkspaceMember, by context: CommandContext
  ) -> Decision<WorkspaceEvent> {
    context.command == nil ? .alreadyDone(member.joined) : .record([.members(.admissionRepeated(user, method))])
  }

  static func requirePlaceForMember(in workspace: Workspace) throws(Rejection) {
    guard workspace.members.count < Limits.membersPerWorkspace else { throw .tooManyWorkspaceMembers }
  }

  /// What a link or an invitation gives by now: no more than its maker still has in the workspace, else who was put out or
  /// lowered would come back by an own link as what they were, or leave an administrator behind.
  static func given(
    _ role: WorkspaceRole, by maker: UserID?, in workspace: Workspace
  ) -> WorkspaceRole {
    guard let maker else { return role }
    return min(role, workspace.members[maker]?.role ?? .member)
  }
}

/// Going, roles and ownership. A workspace has one owner from its creation to its deletion: whoever owns it can neither
/// leave nor be put out before handing it over, and who is alone in it deletes it.
extension WorkspaceDecider {
  static func leave(by context: CommandContext, in state: WorkspaceState) throws(Rejection) -> Decision<WorkspaceEvent>
  {
    let user = try actor(of: context)
    guard let member = try workspace(state).members[user] else { throw .workspaceNotFound }
    guard member.role != .owner else { throw .ownerMustTransfer }
    return .record([.members(.left(user))])
  }

  /// Those of a lower role; a service removes anyone but the owner. That the target's role is asked here and not in
  /// `authorize` lets a retry survive the target's return.
  static func removeMember(
    _ user: UserID, by context: CommandContext, in state: WorkspaceState
  ) throws(Rejection) -> Decision<WorkspaceEvent> {
    guard let target = try workspace(state).members[user] else { throw .memberNotFound }
    try requireAuthority(over: target.role, context, in: state)
    guard target.role != .owner else { throw .ownerMustTransfer }
    return .record([.members(.removed(user))])
  }

  /// One gives at most the own role, to those below oneself; oneself one may only lower. Recorded even when nothing
  /// changes: the event carries the idempotency key.
  static func changeRole(
    of user: UserID, to role: WorkspaceRole, by context: CommandContext, in state: WorkspaceState
  ) throws(Rejection) -> Decision<WorkspaceEvent> {
    guard let target = try workspace(state).members[user] else { throw .memberNotFound }
    guard role != .owner else { throw .roleNotAllowed }
    guard target.role != .owner else {
      throw user == context.actor || context.actor == nil ? .ownerMustTransfer : .forbidden
    }
    if user != context.actor { try requireAuthority(over: target.role, context, in: state) }
    guard role <= (try workspaceActor(of: context, in: state)).highestRole else { throw .roleNotAllowed }
    return .record([.members(.roleChanged(user, role))])
  }

  /// The owner becomes an administrator.
  static func transfer(
    to user: UserID, by context: CommandContext, in state: WorkspaceState
  ) throws(Rejection) -> Decision<WorkspaceEvent> {
    let workspace = try workspace(state)
    guard workspace.members[user] != nil else { throw .memberNotFound }
    let owners: [UserID]
    switch try workspaceActor(of: context, in: state) {
    case .member(let actor, let role):
      guard role == .owner else { throw .forbidden }
      owners = [actor]
    case .service:
      owners = workspace.members.lazy.filter { $0.value.role == .owner }.map(\.key).sorted()
    }
    guard !owners.contains(user) else { throw .roleNotAllowed }
    return .record([.members(.roleChanged(user, .owner))] + owners.map { .members(.roleChanged($0, .administrator)) })
  }
}

// MARK: - Evolve

extension Workspace {
  mutating func apply(_ event: WorkspaceEvent.Members, _ stamp: Stamp) {
    switch event {
    case .joined(let user, let role, let method):
      invited[user] = nil
      if case .link(let id) = method { invites[id]?.uses += 1 }
      if members[user] == nil { members[user] = WorkspaceMember(role: role, joined: stamp) }
    case .left(let user), .removed(let user):
      members[user] = nil
    case .roleChanged(let user, let role):
      members[user]?.role = role
    case .admissionRepeated:
      break
    }
  }
}
