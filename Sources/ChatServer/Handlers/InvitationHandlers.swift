import ChatDomain
import ChatPrimitives
import ChatProjections
import ChatProtocol
import ChatService
import Hummingbird

import struct ChatProtocol.Invitation
import struct ChatProtocol.User
import struct ChatProtocol.WorkspaceInvite

/// Links and invitations into workspaces.
struct InvitationHandlers: Sendable {
  let chat: ChatService
  let deepLink: DeepLink
  let workspaces: WorkspaceHandlers

  // MARK: - Links

  func createLink(
    _ exchange: Exchange, _ body: TypedBody<CreateWorkspaceInviteRequest>
  ) async throws -> TypedResponse<WorkspaceInvite> {
    let workspace: WorkspaceID = try exchange.id("workspaceId")
    let body = try await body.decoded()
    let role = try body.role.map { try WireRoles.workspace($0) } ?? .member
    let name = try CreationName(body.id, of: .workspaceInvite, in: workspace.uuid, exchange, chat)
    let newInvite = try InviteHandlers.newInvite(name.id, role, expiresAt: body.expiresAt, maxUses: body.maxUses)
    let actor = try exchange.actor
    let outcome = try await name.create { _ in try await chat.createInvite(newInvite, for: workspace, by: actor) }
    return try await receipt(name.id, workspace, outcome)
  }

  func listLinks(_ exchange: Exchange) async throws -> TypedResponse<WorkspaceInviteList> {
    let workspace: WorkspaceID = try exchange.id("workspaceId")
    let cursors = PageCursors(.workspaceInvites, of: workspace, in: chat.logIdentity)
    let page = try await InviteHandlers.page(exchange, cursors) { user, cursor, limit in
      try await chat.invites(of: workspace, for: user, before: cursor, limit: limit)
    }
    return try await JSONBody.page(of: page.links.count) {
      WorkspaceInviteList(invites: page.links.map { wire($0) }, nextCursor: page.nextCursor)
    }
  }

  func revokeLink(_ exchange: Exchange) async throws -> TypedResponse<WorkspaceInvite> {
    let workspace: WorkspaceID = try exchange.id("workspaceId")
    let id: InviteID = try exchange.id("inviteId")
    let outcome = try await chat.performWorkspace(
      workspace, .revokeInvite(id), by: exchange.actor, command: exchange.command())
    return try await receipt(id, workspace, outcome)
  }

  private func receipt(
    _ id: InviteID, _ workspace: WorkspaceID, _ outcome: ChatOutcome
  ) async throws -> TypedResponse<WorkspaceInvite> {
    var invite = wire(try await chat.invite(id, of: workspace))
    invite.position = outcome.stamp.position
    return try JSONBody.receipt(outcome.isNew, invite)
  }

  private func wire(_ row: WorkspaceInviteRow) -> WorkspaceInvite {
    let token = chat.token(of: row.invite.id, in: row.place)
    return WorkspaceInvite(
      id: row.invite.id, workspaceId: row.place, token: token, link: deepLink.link(for: token),
      role: row.invite.role.name, expiresAt: row.invite.expiresAt, maxUses: row.invite.maximumUses.map { Int($0) },
      uses: Int(row.uses), revokedAt: row.revoked?.time, position: row.created.position)
  }

  // MARK: - By name

  func invite(
    _ exchange: Exchange, _ body: TypedBody<WorkspaceRoleRequest>
  ) async throws -> TypedResponse<WorkspaceMembership> {
    let user: UserID = try exchange.id("userId")
    let role = try WireRoles.workspace(await body.decoded().role)
    return try await workspaces.change(.invite(user, role), of: user, exchange)
  }

  func withdraw(_ exchange: Exchange) async throws -> TypedResponse<WorkspaceMembership> {
    let user: UserID = try exchange.id("userId")
    return try await workspaces.change(.withdrawInvitation(user), of: user, exchange)
  }

  func decline(_ exchange: Exchange) async throws -> TypedResponse<WorkspaceMembership> {
    let user = try exchange.user
    return try await workspaces.change(.withdrawInvitation(user), of: user, exchange)
  }

  func list(_ exchange: Exchange) async throws -> TypedResponse<InvitationList> {
    let workspace: WorkspaceID = try exchange.id("workspaceId")
    let cursors = PageCursors(.invitations, of: workspace, in: chat.logIdentity)
    let page = try await chat.invitations(
      into: workspace, for: exchange.user, before: cursors.position(in: exchange.query("cursor")),
      limit: exchange.limit())
    return try answer(page, cursors)
  }

  func listMine(_ exchange: Exchange) async throws -> TypedResponse<InvitationList> {
    let user = try exchange.user
    let cursors = PageCursors(.ownInvitations, of: user, in: chat.logIdentity)
    let page = try await chat.invitations(
      of: user, before: cursors.position(in: exchange.query("cursor")), limit: exchange.limit())
    return try answer(page, cursors)
  }

  private func answer(_ page: InvitationPage, _ cursors: PageCursors) throws -> TypedResponse<InvitationList> {
    let invitations = page.invitations.map { row in
      Invitation(
        workspaceId: row.workspace, workspaceName: page.workspaces[row.workspace]?.name ?? "",
        workspacePicture: page.workspaces[row.workspace]?.picture, user: User(row.user, among: page.nicknames),
        role: row.role.name, invitedBy: row.inviter.map { User($0, among: page.nicknames) }, invitedAt: row.made.time)
    }
    return try JSONBody.answer(
      InvitationList(invitations: invitations, nextCursor: page.next.map { cursors.cursor(at: $0.value) }))
  }
}
