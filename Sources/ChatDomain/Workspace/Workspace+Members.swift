package import ChatPrimitives

extension WorkspaceEvent {
  package enum Members: Sendable, Equatable {
    /// Joined with an invite or an invitation, or a service added the user.
    case joined(UserID, role: WorkspaceRole, by: WorkspaceJoinMethod)
    case left(UserID)
    /// Another member removed the user.
    case removed(UserID)
    /// The user was a member already; recorded for the idempotency key.
    case admissionRepeated(UserID, WorkspaceJoinMethod)
    case roleChanged(UserID, WorkspaceRole)
  }
}

/// How a user joins a workspace.
package enum WorkspaceJoinMethod: Sendable, Hashable {
  case link(InviteID)
  /// The user was invited by name and accepted.
  case invitation
  /// A service added the user, or the user created the workspace.
  case service
}

/// What a member may do. The raw values are in the log, in ascending order of rights.
package enum WorkspaceRole: UInt8, NamedValue, Comparable {
  /// Sees only the channels to which a member has added the guest.
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

  package static func < (left: WorkspaceRole, right: WorkspaceRole) -> Bool { left.rawValue < right.rawValue }
}

extension WorkspaceEvent.Members: EventFamily {
  /// Does not include who joins or leaves: idempotency keys are looked up within one actor.
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

// MARK: - Commands

extension WorkspaceCommand {
  package enum Members: Sendable, Equatable {
    /// A service adds the actor.
    case join
    case leave
    case remove(UserID)
    case changeRole(UserID, WorkspaceRole)
    /// The actor, or a service, gives ownership to this member.
    case transfer(to: UserID)
  }
}

extension WorkspaceCommand.Members: AggregateCommand {
  package typealias Entity = WorkspaceCommand.Entity

  package func fingerprint(by actor: UserID?) -> Fingerprint {
    switch self {
    case .join: .workspaceJoining(by: .service)
    case .leave: .workspaceLeaving
    case .remove(let user): .workspaceRemoval(user)
    case .changeRole(let user, let role): .workspaceRoleChange(user, role)
    case .transfer(let user): .workspaceRoleChange(user, .owner)
    }
  }
}

// MARK: - Decide

/// A workspace has one owner from its creation to its deletion. The owner can neither leave nor be removed before
/// transferring the ownership. An owner without other members deletes the workspace.
extension WorkspaceDecider {
  func decide(
    _ command: WorkspaceCommand.Members, _ directory: borrowing some Directory
  ) throws(Rejection) -> Decision<WorkspaceEvent> {
    switch command {
    case .join: try join(directory)
    case .leave: try leave(directory)
    case .remove(let user): try remove(user)
    case .changeRole(let user, let role): try changeRole(of: user, to: role)
    case .transfer(let user): try transfer(to: user)
    }
  }

  /// The user gets the role of the user's invitation, or `member` without one.
  private func join(_ directory: borrowing some Directory) throws(Rejection) -> Decision<WorkspaceEvent> {
    guard context.isByService else { throw .serviceOnly }
    try requireRegisteredActor(directory)
    let workspace = try workspace()
    if let done = try doneBefore() { return done }
    let user = try actor()
    if let member = workspace.members[user] { return repeatedJoin(by: .service, of: user, member) }
    try requirePlaceForMember(in: workspace)
    let role = workspace.invited[user].map { grantedRole($0.role, by: $0.maker, in: workspace) } ?? .member
    return .record([.members(.joined(user, role: role, by: .service))])
  }

  /// Membership is checked after `doneBefore`, so that a retry by a user who has left is recognised.
  private func leave(_ directory: borrowing some Directory) throws(Rejection) -> Decision<WorkspaceEvent> {
    try requireRegisteredActor(directory)
    if let done = try doneBefore() { return done }
    let user = try actor()
    guard let member = try workspace().members[user] else { throw .workspaceNotFound }
    guard member.role != .owner else { throw .ownerMustTransfer }
    return .record([.members(.left(user))])
  }

  /// Administrators remove members with a lower role; a service removes anyone but the owner. The role of the removed
  /// user is checked after `doneBefore`, because the user may have joined again with a higher role.
  private func remove(_ user: UserID) throws(Rejection) -> Decision<WorkspaceEvent> {
    try requireRole(.administrator)
    if let done = try doneBefore() { return done }
    guard let target = try workspace().members[user] else { throw .memberNotFound }
    try requireAuthority(over: target.role)
    guard target.role != .owner else { throw .ownerMustTransfer }
    return .record([.members(.removed(user))])
  }

  /// Administrators give roles up to their own, to members with a lower role. Members can lower their own role. That
  /// requires no role, because they no longer have the old one when retrying. Recorded even when nothing changes: the
  /// event has the idempotency key.
  private func changeRole(of user: UserID, to role: WorkspaceRole) throws(Rejection) -> Decision<WorkspaceEvent> {
    let isOwnRole = user == context.actor
    try requireRole(isOwnRole ? .guest : .administrator)
    if let done = try doneBefore() { return done }
    guard let target = try workspace().members[user] else { throw .memberNotFound }
    guard role != .owner else { throw .roleNotAllowed }
    guard target.role != .owner else { throw isOwnRole || context.actor == nil ? .ownerMustTransfer : .forbidden }
    if !isOwnRole { try requireAuthority(over: target.role) }
    guard role <= (try workspaceActor()).highestRole else { throw .roleNotAllowed }
    return .record([.members(.roleChanged(user, role))])
  }

  /// The owner becomes an administrator. The role of the actor is checked after `doneBefore`, because a retry comes
  /// from a user who is no longer the owner.
  private func transfer(to user: UserID) throws(Rejection) -> Decision<WorkspaceEvent> {
    let workspaceActor = try workspaceActor()
    if let done = try doneBefore() { return done }
    let workspace = try workspace()
    guard workspace.members[user] != nil else { throw .memberNotFound }
    let owners: [UserID]
    switch workspaceActor {
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

// MARK: - Joining

extension WorkspaceDecider {
  /// A member does not join a second time. Under a key an event is recorded, so that a late retry is recognised after
  /// the user has left.
  func repeatedJoin(
    by method: WorkspaceJoinMethod, of user: UserID, _ member: WorkspaceMember
  ) -> Decision<WorkspaceEvent> {
    context.command == nil ? .alreadyDone(member.joined) : .record([.members(.admissionRepeated(user, method))])
  }

  func requirePlaceForMember(in workspace: Workspace) throws(Rejection) {
    guard workspace.members.count < Limits.membersPerWorkspace else { throw .tooManyWorkspaceMembers }
  }

  /// The role that an invite or an invitation gives now: at most the current role of the user who made it, and at most
  /// `member` if that user has left. Otherwise a removed administrator could come back with the same role by an old
  /// invite, or make somebody else an administrator.
  func grantedRole(_ role: WorkspaceRole, by maker: UserID?, in workspace: Workspace) -> WorkspaceRole {
    guard let maker else { return role }
    return min(role, workspace.members[maker]?.role ?? .member)
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
