import ChatDomain
import ChatPrimitives
import ChatProjections
import ChatProtocol
import ChatService
import Hummingbird

import struct ChatProtocol.Room
import struct ChatProtocol.User
import struct ChatProtocol.Workspace
import struct ChatProtocol.WorkspaceMember

struct WorkspaceHandlers: Sendable {
  let chat: ChatService

  // MARK: - Lifecycle

  func create(
    _ context: HansardRequestContext, _ body: TypedBody<CreateWorkspaceRequest>
  ) async throws -> TypedResponse<Workspace> {
    let body = try await body.decoded()
    let name = try CreationName(body.id, of: .workspace, context, chat)
    let creation = WorkspaceCreation(name: body.name, creator: try context.user, topic: body.topic)
    let actor = try context.actor
    let outcome = try await name.create {
      try await chat.performWorkspace($0, .lifecycle(.create(creation)), by: actor)
    }
    return try JSONBody.receipt(
      outcome.result,
      Workspace(
        id: name.id, name: creation.name, topic: creation.topic.flatMap { $0.isEmpty ? nil : $0 }, picture: nil,
        memberCount: 1, role: WorkspaceRole.owner.name, createdAt: outcome.stamp.time,
        revision: outcome.stamp.position))
  }

  func list(_ context: HansardRequestContext) async throws -> TypedResponse<WorkspaceList> {
    let user = try context.user
    let cursors = PageCursors(.workspaces, of: user, in: chat.logIdentity)
    let page = try await chat.workspaces(
      of: user, after: cursors.position(in: context.cursor()), limit: context.limit())
    return try await JSONBody.page(of: page.workspaces.count) {
      WorkspaceList(
        workspaces: page.workspaces.map { Workspace($0) }, nextCursor: page.next.map { cursors.cursor(at: $0.value) })
    }
  }

  func get(_ context: HansardRequestContext) async throws -> TypedResponse<Workspace> {
    try JSONBody.response(Workspace(try await chat.workspace(context.id("workspaceId"), for: context.user)))
  }

  func update(
    _ context: HansardRequestContext, _ body: TypedBody<UpdatePlaceRequest>
  ) async throws -> TypedResponse<Workspace> {
    let id: WorkspaceID = try context.id("workspaceId")
    let edit = try SpaceEdit(await body.decoded())
    let outcome = try await perform(.lifecycle(.edit(edit.ofWorkspace)), on: id, context)
    var workspace = try await current(id, context)
    edit.show(in: &workspace)
    workspace.position = outcome.stamp.position
    workspace.revision = outcome.stamp.position
    return try JSONBody.receipt(outcome.result, workspace)
  }

  private func current(_ id: WorkspaceID, _ context: HansardRequestContext) async throws -> Workspace {
    if let reader = context.reader { return Workspace(try await chat.workspace(id, for: reader)) }
    return Workspace(try await chat.workspace(id))
  }

  /// Responds with a receipt only, because nothing is left of the workspace.
  func delete(_ context: HansardRequestContext) async throws -> TypedResponse<WorkspaceReceipt> {
    let id: WorkspaceID = try context.id("workspaceId")
    let outcome = try await perform(.lifecycle(.delete), on: id, context)
    return try JSONBody.receipt(outcome.result, WorkspaceReceipt(workspaceId: id, position: outcome.stamp.position))
  }

  func channels(_ context: HansardRequestContext) async throws -> TypedResponse<RoomList> {
    let id: WorkspaceID = try context.id("workspaceId")
    let cursors = PageCursors(.channels, of: id, in: chat.logIdentity)
    let page = try await chat.channels(
      of: id, for: context.user, after: cursors.position(in: context.cursor()), limit: context.limit())
    return try await JSONBody.page(of: page.rooms.count) {
      RoomList(
        rooms: page.rooms.map { Room($0) }, users: [User](page.profiles),
        nextCursor: page.next.map { cursors.cursor(at: $0.value) })
    }
  }

  // MARK: - Members

  func members(_ context: HansardRequestContext) async throws -> TypedResponse<WorkspaceMemberList> {
    let id: WorkspaceID = try context.id("workspaceId")
    let cursors = PageCursors(.workspaceMembers, of: id, in: chat.logIdentity)
    let page = try await chat.members(
      of: id, for: context.user, after: cursors.position(in: context.cursor()), limit: context.limit())
    return try await JSONBody.page(of: page.members.count) {
      let members = page.members.map { WorkspaceMember($0, among: page.profiles) }
      return WorkspaceMemberList(members: members, nextCursor: page.next.map { cursors.cursor(at: $0.value) })
    }
  }

  func remove(_ context: HansardRequestContext) async throws -> TypedResponse<WorkspaceMembership> {
    let user: UserID = try context.id("userId")
    return try await change(.members(.remove(user)), of: user, context)
  }

  func changeRole(
    _ context: HansardRequestContext, _ body: TypedBody<WorkspaceRoleRequest>
  ) async throws -> TypedResponse<WorkspaceMembership> {
    let user: UserID = try context.id("userId")
    let role = try WorkspaceRole(await body.decoded().role, field: "role")
    return try await change(.members(.changeRole(user, role)), of: user, context)
  }

  func transfer(
    _ context: HansardRequestContext, _ body: TypedBody<TransferRequest>
  ) async throws -> TypedResponse<WorkspaceMembership> {
    let user = try await body.decoded().userId
    return try await change(.members(.transfer(to: user)), of: user, context)
  }

  func leave(_ context: HansardRequestContext) async throws -> TypedResponse<WorkspaceMembership> {
    try await change(.members(.leave), of: context.user, context)
  }

  func join(_ context: HansardRequestContext) async throws -> TypedResponse<WorkspaceMembership> {
    let id: WorkspaceID = try context.id("workspaceId")
    let outcome = try await chat.joinWorkspace(id, by: context.actor, command: context.command())
    return try receipt(outcome, id, try context.user)
  }

  // MARK: - Changes

  func change(
    _ command: WorkspaceCommand, of user: UserID, _ context: HansardRequestContext
  ) async throws -> TypedResponse<WorkspaceMembership> {
    let id: WorkspaceID = try context.id("workspaceId")
    return try receipt(try await perform(command, on: id, context), id, user)
  }

  private func perform(
    _ command: WorkspaceCommand, on id: WorkspaceID, _ context: HansardRequestContext
  ) async throws -> ChatOutcome {
    try await chat.performWorkspace(
      id, command, by: context.actor, command: context.command(), if: context.precondition())
  }

  private func receipt(
    _ outcome: ChatOutcome, _ id: WorkspaceID, _ user: UserID
  ) throws -> TypedResponse<WorkspaceMembership> {
    try JSONBody.receipt(
      outcome.result, WorkspaceMembership(workspaceId: id, userId: user, position: outcome.stamp.position))
  }
}

extension Workspace {
  /// The workspace as a service that acts for itself sees it.
  init(_ row: WorkspaceRow) {
    self.init(
      id: row.id, name: row.name, topic: row.topic, picture: row.picture, memberCount: Int(row.memberCount), role: nil,
      createdAt: row.created.time, revision: row.revision)
  }

  init(_ row: WorkspaceListRow) {
    self.init(
      id: row.workspace.id, name: row.workspace.name, topic: row.workspace.topic, picture: row.workspace.picture,
      memberCount: Int(row.workspace.memberCount), role: row.member.role.name,
      unreadCount: Int(clamping: row.badge.unread), mentionCount: Int(clamping: row.badge.mentions),
      createdAt: row.workspace.created.time, revision: row.workspace.revision)
  }
}

extension WorkspaceMember {
  init(_ row: WorkspaceMemberRow, among profiles: [UserID: Profile]) {
    self.init(user: User(row.user, among: profiles), role: row.role.name, joinedAt: row.joined.time)
  }
}
