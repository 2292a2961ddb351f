import ChatDomain
import ChatPrimitives
import ChatService
import EventLogSimulation

extension CommandGenerator {
  /// A command on a workspace under a key.
  mutating func workspace(
    _ name: String, _ workspace: WorkspaceID, _ command: WorkspaceCommand, by user: UserID
  ) -> Step {
    let key = key()
    let name = "u\(user.short) \(name) in w\(workspace.short) under k\(key.short)"
    let rights = [.account] + Right.of(command, in: workspace, by: user)
    return Step(name, user: user, workspace: workspace, rights: rights) { chat async throws(ServiceError) in
      Step.Receipt(try await chat.performWorkspace(workspace, command, by: Principal(user: user), command: key))
    }
  }

  /// Mostly a member who may lead the workspace.
  private mutating func leader(of workspace: ModelWorkspace) -> UserID {
    if chance(85), let member = pick(workspace.members.filter { $0.role >= .administrator }) { return member.user }
    return pick(workspace.members)?.user ?? anyone()
  }

  private mutating func outsider(of workspace: ModelWorkspace) -> UserID {
    if chance(90), let user = pick(users.filter { workspace.member($0) == nil }) { return user }
    return anyone()
  }

  /// Rarely a guest. Owner is a role that is always rejected.
  private mutating func role() -> WorkspaceRole {
    chance(20) ? .guest : chance(75) ? .member : chance(90) ? .administrator : .owner
  }

  mutating func createWorkspace(_ model: ChatModel) -> Step? {
    let existing = model.workspaces.values.filter { $0.exists }.count
    guard existing < Self.workspaceCount || chance(10) else { return nil }
    let user = anyone()
    let id = Numbered.workspace(model.workspaces.count + (chance(5) ? 0 : 1))
    return create(id, WorkspaceCreation(name: text(), creator: user, topic: chance(40) ? text() : nil))
  }

  func create(_ id: WorkspaceID, _ creation: WorkspaceCreation) -> Step {
    let user = creation.creator
    return Step(
      "u\(user.short) creates w\(id.short)", user: user, workspace: id, rights: [.account, .workspace(id)]
    ) { chat async throws(ServiceError) in
      Step.Receipt(try await chat.performWorkspace(id, .lifecycle(.create(creation)), by: Principal(user: user)))
    }
  }

  mutating func editWorkspace(_ model: ChatModel) -> Step? {
    guard let place = anyWorkspace(model) else { return nil }
    let user = leader(of: place)
    let edit = WorkspaceEdit(
      name: chance(50) ? text() : nil, topic: chance(60) ? (chance(30) ? "" : text()) : nil,
      picture: picture(by: user))
    return workspace("edits to \(edit.name ?? "-"), \(edit.topic ?? "-")", place.id, .lifecycle(.edit(edit)), by: user)
  }

  mutating func deleteWorkspace(_ model: ChatModel) -> Step? {
    guard let place = anyWorkspace(model), chance(20) else { return nil }
    let user = pick(place.members.filter { $0.role == .owner })?.user ?? anyone()
    return workspace("deletes the workspace", place.id, .lifecycle(.delete), by: user)
  }

  // MARK: - Joining and leaving

  mutating func inviteIntoWorkspace(_ model: ChatModel) -> Step? {
    guard let place = anyWorkspace(model) else { return nil }
    let (user, role) = (outsider(of: place), role())
    return workspace(
      "invites u\(user.short) as \(role.name)", place.id, .invitations(.invite(user, role)), by: leader(of: place))
  }

  mutating func answerInvitation(_ model: ChatModel) -> Step? {
    guard let place = anyWorkspace(model) else { return nil }
    let user = pick(place.invitations)?.user ?? anyone()
    if chance(25) {
      let by = chance(50) ? user : leader(of: place)
      return workspace("withdraws the invitation of u\(user.short)", place.id, .invitations(.withdraw(user)), by: by)
    }
    return workspace("accepts the invitation", place.id, .invitations(.accept), by: user)
  }

  /// A service adds the user.
  mutating func joinWorkspace(_ model: ChatModel) -> Step? {
    guard let place = anyWorkspace(model) else { return nil }
    let (user, key) = (outsider(of: place), key())
    let principal = Principal(user: user, service: Numbered.service)
    let name = "a service lets u\(user.short) into w\(place.id.short) under k\(key.short)"
    return Step(name, user: user, workspace: place.id, rights: [.workspace(place.id)]) {
      chat async throws(ServiceError) in
      Step.Receipt(try await chat.joinWorkspace(place.id, by: principal, command: key))
    }
  }

  mutating func leaveWorkspace(_ model: ChatModel) -> Step? {
    guard let place = anyWorkspace(model), let member = pick(place.members) else { return nil }
    if chance(50) { return workspace("leaves", place.id, .members(.leave), by: member.user) }
    return workspace("removes u\(member.user.short)", place.id, .members(.remove(member.user)), by: leader(of: place))
  }

  mutating func changeWorkspaceRole(_ model: ChatModel) -> Step? {
    guard let place = anyWorkspace(model), let member = pick(place.members) else { return nil }
    let role = role()
    return workspace(
      "makes u\(member.user.short) \(role.name)", place.id, .members(.changeRole(member.user, role)),
      by: leader(of: place))
  }

  mutating func transferWorkspace(_ model: ChatModel) -> Step? {
    guard let place = anyWorkspace(model), let member = pick(place.members) else { return nil }
    let user = pick(place.members.filter { $0.role == .owner })?.user ?? anyone()
    return workspace("gives it to u\(member.user.short)", place.id, .members(.transfer(to: member.user)), by: user)
  }

  // MARK: - Links

  mutating func createWorkspaceInvite(_ model: ChatModel) -> Step? {
    guard let place = anyWorkspace(model) else { return nil }
    let user = leader(of: place)
    let newInvite = ChatService.NewInvite(
      id: chance(5) ? pick(place.invites)?.link.id ?? newID() : newID(), role: role(), expiry: expiry(),
      maximumUses: chance(50) ? UInt32(random.within(1...3)) : nil, hasCode: chance(30))
    return createInvite(newInvite, of: place.id, by: user)
  }

  func createInvite(_ newInvite: ChatService.NewInvite<WorkspaceRole>, of place: WorkspaceID, by user: UserID) -> Step {
    let name = "u\(user.short) makes invite i\(newInvite.id.short) of w\(place.short)"
    let rights: [Right] = [.account, .workspaceRole(place, .administrator)]
    return Step(name, user: user, workspace: place, rights: rights) { chat async throws(ServiceError) in
      Step.Receipt(try await chat.createInvite(newInvite, for: place, by: Principal(user: user)))
    }
  }

  mutating func revokeWorkspaceInvite(_ model: ChatModel) -> Step? {
    guard let place = anyWorkspace(model), let invite = pick(place.invites)?.link.id else { return nil }
    return workspace("revokes i\(invite.short)", place.id, .sharing(.revokeInvite(invite)), by: leader(of: place))
  }

  mutating func acceptWorkspaceInvite(_ model: ChatModel) -> Step? {
    guard let place = anyWorkspace(model), let invite = pick(place.invites)?.link else { return nil }
    let byCode = invite.codeHash != nil && chance(50)
    return accept(invite.id, of: place.id, by: outsider(of: place), byCode: byCode)
  }

  mutating func accept(
    _ invite: InviteID, of workspace: WorkspaceID, by user: UserID, byCode: Bool = false
  ) -> Step {
    let key = key()
    let name = "u\(user.short) accepts i\(invite.short) of w\(workspace.short) under k\(key.short)"
    let rights = [.account] + Right.of(.sharing(.acceptInvite(invite)), in: workspace, by: user)
    return Step(name, user: user, workspace: workspace, rights: rights) { chat async throws(ServiceError) in
      let secret: InviteSecret =
        byCode ? .code(chat.code(of: invite, in: workspace)) : .token(chat.token(of: invite, in: workspace))
      return Step.Receipt(try await chat.acceptInvite(secret, by: Principal(user: user), command: key))
    }
  }
}
