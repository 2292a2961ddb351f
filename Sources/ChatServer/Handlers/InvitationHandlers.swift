import ChatDomain
import ChatPrimitives
import ChatProjections
import ChatProtocol
import ChatService
import Hummingbird

import struct ChatProtocol.Invitation
import struct ChatProtocol.User
import struct ChatProtocol.WorkspaceInvite

/// Invite links and invitations to workspaces.
struct InvitationHandlers: Sendable {
  let chat: ChatService
  let deepLink: DeepLink
  let workspaces: WorkspaceHandlers

  // MARK: - Invite links

  func createLink(
    _ context: HansardRequestContext, _ body: TypedBody<CreateInviteRequest>
  ) async throws -> TypedResponse<WorkspaceInvite> {
    let workspace: WorkspaceID = try context.id("workspaceId")
    let body = try await body.decoded()
    let name = try CreationName(body.id, of: .workspaceInvite, in: workspace.uuid, context, chat)
    let newInvite = try InviteHandlers.newInvite(name.id, body, defaultRole: WorkspaceRole.member, chat)
    let actor = try context.actor
    let outcome = try await name.create { _ in try await chat.createInvite(newInvite, for: workspace, by: actor) }
    return try await receipt(name.id, workspace, outcome)
  }

  func listLinks(_ context: HansardRequestContext) async throws -> TypedResponse<WorkspaceInviteList> {
    let workspace: WorkspaceID = try context.id("workspaceId")
    let cursors = PageCursors(.workspaceInvites, of: workspace, in: chat.logIdentity)
    let page = try await InviteHandlers.page(context, cursors) { user, cursor, limit in
      try await chat.invites(of: workspace, for: user, before: cursor, limit: limit)
    }
    return try await JSONBody.page(of: page.links.count) {
      WorkspaceInviteList(invites: page.links.map { wire($0) }, nextCursor: page.nextCursor)
    }
  }

  func revokeLink(_ context: HansardRequestContext) async throws -> TypedResponse<WorkspaceInvite> {
    let workspace: WorkspaceID = try context.id("workspaceId")
    let id: InviteID = try context.id("inviteId")
    let outcome = try await chat.performWorkspace(
      workspace, .sharing(.revokeInvite(id)), by: context.actor, command: context.command())
    return try await receipt(id, workspace, outcome)
  }

  private func receipt(
    _ id: InviteID, _ workspace: WorkspaceID, _ outcome: ChatOutcome
  ) async throws -> TypedResponse<WorkspaceInvite> {
    var invite = wire(try await chat.invite(id, of: workspace))
    invite.position = outcome.stamp.position
    return try JSONBody.receipt(outcome.result, invite)
  }

  private func wire(_ row: WorkspaceInviteRow) -> WorkspaceInvite {
    let token = chat.token(of: row.invite.id, in: row.space)
    let code = row.invite.codeHash.map { _ in chat.code(of: row.invite.id, in: row.space).description }
    return WorkspaceInvite(
      id: row.invite.id, workspaceId: row.space, token: token, link: deepLink.link(for: token),
      code: code, role: row.invite.role.name, expiresAt: row.invite.expiresAt,
      maxUses: row.invite.maximumUses.map { Int($0) }, uses: Int(row.uses), revokedAt: row.revoked?.time,
      position: row.created.position)
  }

  // MARK: - Invitations of users

  func invite(
    _ context: HansardRequestContext, _ body: TypedBody<WorkspaceRoleRequest>
  ) async throws -> TypedResponse<WorkspaceMembership> {
    let user: UserID = try context.id("userId")
    let role = try WorkspaceRole(await body.decoded().role, field: "role")
    return try await workspaces.change(.invitations(.invite(user, role)), of: user, context)
  }

  func withdraw(_ context: HansardRequestContext) async throws -> TypedResponse<WorkspaceMembership> {
    let user: UserID = try context.id("userId")
    return try await workspaces.change(.invitations(.withdraw(user)), of: user, context)
  }

  func decline(_ context: HansardRequestContext) async throws -> TypedResponse<WorkspaceMembership> {
    let user = try context.user
    return try await workspaces.change(.invitations(.withdraw(user)), of: user, context)
  }

  func list(_ context: HansardRequestContext) async throws -> TypedResponse<InvitationList> {
    let workspace: WorkspaceID = try context.id("workspaceId")
    let cursors = PageCursors(.invitations, of: workspace, in: chat.logIdentity)
    let page = try await chat.invitations(
      into: workspace, for: context.user, before: cursors.position(in: context.cursor()),
      limit: context.limit())
    return try response(page, cursors)
  }

  func listMine(_ context: HansardRequestContext) async throws -> TypedResponse<InvitationList> {
    let user = try context.user
    let cursors = PageCursors(.ownInvitations, of: user, in: chat.logIdentity)
    let page = try await chat.invitations(
      of: user, before: cursors.position(in: context.cursor()), limit: context.limit())
    return try response(page, cursors)
  }

  private func response(_ page: InvitationPage, _ cursors: PageCursors) throws -> TypedResponse<InvitationList> {
    let invitations = page.invitations.map { row in
      Invitation(row, into: page.workspaces[row.workspace], among: page.profiles)
    }
    return try JSONBody.response(
      InvitationList(invitations: invitations, nextCursor: page.next.map { cursors.cursor(at: $0.value) }))
  }
}

extension Invitation {
  /// - Parameter workspace: nil if it is being deleted.
  init(_ row: InvitationRow, into workspace: WorkspaceRow?, among profiles: [UserID: Profile]) {
    self.init(
      workspaceId: row.workspace, workspaceName: workspace?.name ?? "", workspacePicture: workspace?.picture,
      user: User(row.user, among: profiles), role: row.role.name,
      invitedBy: row.inviter.map { User($0, among: profiles) }, invitedAt: row.made.time)
  }
}
