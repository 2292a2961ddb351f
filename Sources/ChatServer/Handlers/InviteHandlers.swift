import ChatDomain
import ChatPrimitives
import ChatProjections
import ChatProtocol
import ChatService
import Hummingbird

import struct ChatProtocol.Invite
import struct ChatProtocol.User

struct InviteHandlers: Sendable {
  let chat: ChatService
  let deepLink: DeepLink
  let throttle: InviteCodeThrottle

  // MARK: - Invites to rooms

  func create(
    _ context: HansardRequestContext, _ body: TypedBody<CreateInviteRequest>
  ) async throws -> TypedResponse<Invite> {
    let room: RoomID = try context.id("roomId")
    let body = try await body.decoded()
    let name = try CreationName(body.id, of: .roomInvite, in: room.uuid, context, chat)
    let newInvite = try Self.newInvite(name.id, body, defaultRole: Role.member, chat)
    let actor = try context.actor
    let outcome = try await name.create { _ in try await chat.createInvite(newInvite, for: room, by: actor) }
    return try await receipt(name.id, room, outcome)
  }

  /// The new invite of a request, for a room or a workspace.
  static func newInvite<GivenRole: InvitableRole & NamedValue>(
    _ id: InviteID, _ body: CreateInviteRequest, defaultRole: GivenRole, _ chat: ChatService
  ) throws -> ChatService.NewInvite<GivenRole> {
    var values = FieldValues()
    let role = try body.role.flatMap { name in try values.value { try GivenRole(name, field: "role") } }
    let expiry: ChatService.InviteExpiry =
      switch body.expiresAt {
      case .none: .standard
      case .some(nil): .never
      case .some(let time?): .at(time)
      }
    let newInvite = ChatService.NewInvite(
      id: id, role: role ?? defaultRole, expiry: expiry, maximumUses: uses(body.maxUses), hasCode: body.code ?? false)
    try values.requireNone(further: chat.fieldFlaws(of: newInvite).map { FieldProblem($0) })
    return newInvite
  }

  /// A number that does not fit is out of range in any case.
  private static func uses(_ count: Int?) -> UInt32? { count.map { UInt32(clamping: $0) } }

  func list(_ context: HansardRequestContext) async throws -> TypedResponse<InviteList> {
    let room: RoomID = try context.id("roomId")
    let cursors = PageCursors(.invites, of: room, in: chat.logIdentity)
    let page = try await Self.page(context, cursors) { user, cursor, limit in
      try await chat.invites(of: room, for: user, before: cursor, limit: limit)
    }
    return try await JSONBody.page(of: page.links.count) {
      InviteList(invites: page.links.map { wire($0) }, nextCursor: page.nextCursor)
    }
  }

  /// A page of invite links of a room or a workspace. Requests one more than it returns, to know whether there are
  /// more.
  static func page<Owner, GivenRole>(
    _ context: HansardRequestContext, _ cursors: PageCursors,
    _ find: (UserID, LogPosition?, Int) async throws -> [InviteLinkRow<Owner, GivenRole>]
  ) async throws -> (links: [InviteLinkRow<Owner, GivenRole>], nextCursor: String?) {
    let limit = try context.limit()
    let found = try await find(context.user, cursors.position(in: context.cursor()), limit + 1)
    let links = Array(found.prefix(limit))
    let next = found.count > limit ? links.last : nil
    return (links, next.map { cursors.cursor(at: $0.created.position.value) })
  }

  func revoke(_ context: HansardRequestContext) async throws -> TypedResponse<Invite> {
    let room: RoomID = try context.id("roomId")
    let id: InviteID = try context.id("inviteId")
    let outcome = try await chat.performRoom(
      room, .sharing(.revokeInvite(id)), by: context.actor, command: context.command())
    return try await receipt(id, room, outcome)
  }

  private func receipt(
    _ id: InviteID, _ room: RoomID, _ outcome: ChatOutcome
  ) async throws -> TypedResponse<Invite> {
    var invite = wire(try await chat.invite(id, of: room))
    invite.position = outcome.stamp.position
    return try JSONBody.receipt(outcome.result, invite)
  }

  private func wire(_ row: InviteRow) -> Invite {
    let token = chat.token(of: row.invite.id, in: row.space)
    let code = row.invite.codeHash.map { _ in chat.code(of: row.invite.id, in: row.space).description }
    return Invite(
      id: row.invite.id, roomId: row.space, token: token, link: deepLink.link(for: token),
      code: code, role: row.invite.role.name, expiresAt: row.invite.expiresAt,
      maxUses: row.invite.maximumUses.map { Int($0) }, uses: Int(row.uses),
      revokedAt: row.revoked?.time, position: row.created.position)
  }

  // MARK: - For holders of a token or a code

  /// Uses the token or the code in the path. Each wrong code makes the caller wait longer before the next one, because
  /// a code is short enough to be guessed by a client that can try without limit.
  private func using<Result>(
    _ context: HansardRequestContext, _ body: (InviteSecret) async throws -> Result
  ) async throws -> Result {
    let secret = InviteSecret(try context.text("token"))
    switch secret {
    case .token: return try await body(secret)
    case .code:
      // Users of a service share its address.
      let address = try context.actor.service == nil ? context.address : nil
      return try await throttle.attempt(by: context.user, from: address) { try await body(secret) }
    }
  }

  func preview(_ context: HansardRequestContext) async throws -> TypedResponse<InvitePreview> {
    let preview = try await using(context) { try await chat.preview(of: $0, for: context.user) }
    let inviter = preview.inviter.map { User($0.id, $0.profile) }
    switch preview.space {
    case .room(let room):
      return try JSONBody.response(
        InvitePreview(
          roomId: room.id, workspaceId: room.workspace, name: room.name, topic: room.topic, picture: room.picture,
          memberCount: Int(room.memberCount), role: preview.role, expiresAt: preview.expiresAt, inviter: inviter))
    case .workspace(let workspace):
      return try JSONBody.response(
        InvitePreview(
          roomId: nil, workspaceId: workspace.id, name: workspace.name, topic: workspace.topic,
          picture: workspace.picture, memberCount: Int(workspace.memberCount), role: preview.role,
          expiresAt: preview.expiresAt, inviter: inviter))
    }
  }

  func accept(_ context: HansardRequestContext) async throws -> TypedResponse<Acceptance> {
    let outcome = try await using(context) {
      try await chat.acceptInvite($0, by: context.actor, command: context.command())
    }
    return try JSONBody.receipt(
      outcome.result,
      Acceptance(
        roomId: outcome.room, workspaceId: outcome.workspace, userId: try context.user,
        position: outcome.stamp.position))
  }
}
