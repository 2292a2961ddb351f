import ChatPrimitives

/// Going, roles and ownership. A workspace has one owner from its creation to its deletion: whoever owns it can neither
/// leave nor be put out before handing it over, and who is alone in it deletes it.
extension WorkspaceDecider {
  static func leave(by act: Act, in state: WorkspaceState) throws(Rejection) -> Verdict<WorkspaceEvent> {
    let user = try actor(of: act)
    guard let member = try workspace(state).members[user] else { throw .workspaceNotFound }
    guard member.role != .owner else { throw .ownerMustTransfer }
    return .record([.memberLeft(user)])
  }

  /// Those of a lower role; a service removes anyone but the owner. That the target's role is asked here and not in
  /// `authorize` lets a retry survive the target's return.
  static func removeMember(
    _ user: UserID, by act: Act, in state: WorkspaceState
  ) throws(Rejection) -> Verdict<WorkspaceEvent> {
    guard let target = try workspace(state).members[user] else { throw .memberNotFound }
    try requireAuthority(over: target.role, act, in: state)
    guard target.role != .owner else { throw .ownerMustTransfer }
    return .record([.memberRemoved(user)])
  }

  /// One gives at most the own role, to those below oneself; oneself one may only lower. Recorded even when nothing
  /// changes: the fact carries the idempotency key.
  static func changeRole(
    of user: UserID, to role: WorkspaceRole, by act: Act, in state: WorkspaceState
  ) throws(Rejection) -> Verdict<WorkspaceEvent> {
    guard let target = try workspace(state).members[user] else { throw .memberNotFound }
    guard role != .owner else { throw .roleNotAllowed }
    guard target.role != .owner else { throw user == act.actor || act.actor == nil ? .ownerMustTransfer : .forbidden }
    if user != act.actor { try requireAuthority(over: target.role, act, in: state) }
    guard role <= (try standing(of: act, in: state)).highestRole else { throw .roleNotAllowed }
    return .record([.roleChanged(user, role)])
  }

  /// The owner becomes an administrator.
  static func transfer(
    to user: UserID, by act: Act, in state: WorkspaceState
  ) throws(Rejection) -> Verdict<WorkspaceEvent> {
    let workspace = try workspace(state)
    guard workspace.members[user] != nil else { throw .memberNotFound }
    let owners: [UserID]
    switch try standing(of: act, in: state) {
    case .member(let actor, let role):
      guard role == .owner else { throw .forbidden }
      owners = [actor]
    case .service:
      owners = workspace.members.lazy.filter { $0.value.role == .owner }.map(\.key).sorted()
    }
    guard !owners.contains(user) else { throw .roleNotAllowed }
    return .record([.roleChanged(user, .owner)] + owners.map { .roleChanged($0, .administrator) })
  }
}
