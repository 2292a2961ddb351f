import ChatDomain
import ChatPrimitives
import ChatProjections
import ChatProtocol
import ChatService
import Hummingbird

import struct ChatProtocol.ReadPoint
import struct ChatProtocol.Room
import struct ChatProtocol.User

struct RoomHandlers: Sendable {
  let chat: ChatService

  func create(
    _ context: HansardRequestContext, _ body: TypedBody<CreateRoomRequest>
  ) async throws -> TypedResponse<Room> {
    let actor = try context.actor
    switch try NewRoom(await body.decoded(), by: actor.user) {
    case .room(let given, let creation):
      let name = try CreationName(given, of: .room, context, chat)
      let outcome = try await name.create { try await chat.performRoom($0, .lifecycle(.create(creation)), by: actor) }
      return try JSONBody.receipt(outcome.result, Room(name.id, creation, outcome.stamp))
    case .direct(let others, let workspace):
      let (id, outcome) = try await chat.directRoom(with: others, in: workspace, by: actor)
      // The first request creates the room; later requests find it in its current state.
      var room = try await current(id, context)
      room.position = outcome.stamp.position
      return try JSONBody.receipt(outcome.result, room)
    }
  }

  func list(_ context: HansardRequestContext) async throws -> TypedResponse<RoomList> {
    let user = try context.user
    let (list, cursors) = try Self.list(context, of: user, chat)
    let page = try await chat.roomList(
      of: user, in: list, RoomListFilter(context), after: cursors.position(in: context.cursor()),
      limit: context.limit())
    return try await JSONBody.page(of: page.rooms.count) {
      RoomList(
        rooms: page.rooms.map { Room($0) }, users: [User](page.profiles),
        nextCursor: page.next.map { cursors.cursor(at: $0.value) })
    }
  }

  /// The list that the query's `archived` and `hidden` choose.
  private static func list(
    _ context: HansardRequestContext, of user: UserID, _ chat: ChatService
  ) throws -> (TrackedRoom.List, PageCursors) {
    let (archived, hidden) = try (context.flag("archived") ?? false, context.flag("hidden") ?? false)
    if archived, hidden { throw Refusal.invalidQuery("Only one of archived and hidden can be true.") }
    let (list, kind): (TrackedRoom.List, PageCursors.Kind) =
      archived ? (.archived, .archivedRooms) : hidden ? (.hidden, .hiddenRooms) : (.open, .rooms)
    return (list, PageCursors(kind, of: user, in: chat.logIdentity))
  }

  func get(_ context: HansardRequestContext) async throws -> TypedResponse<Room> {
    try JSONBody.response(try await current(context.id("roomId"), context))
  }

  func update(
    _ context: HansardRequestContext, _ body: TypedBody<UpdateRoomRequest>
  ) async throws -> TypedResponse<Room> {
    let body = try await body.decoded()
    let edit = try SpaceEdit(body)
    return try await revise(.lifecycle(.edit(edit.ofRoom(body.custom))), context) { room in
      edit.show(in: &room)
      if let custom = body.custom { room.custom = custom.kept }
    }
  }

  func archive(_ context: HansardRequestContext) async throws -> TypedResponse<Room> {
    try await revise(.lifecycle(.archive), context) { _ in }
  }

  func unarchive(_ context: HansardRequestContext) async throws -> TypedResponse<Room> {
    try await revise(.lifecycle(.restore), context) { $0.archivedAt = nil }
  }

  func mute(_ context: HansardRequestContext, _ body: TypedBody<MuteRoomRequest>) async throws -> TypedResponse<Room> {
    let body = try await body.decoded()
    return try await change(.members(.mute(until: body.until)), context) { room, _ in
      room.mutedUntil = body.until
    }
  }

  func setNotifications(
    _ context: HansardRequestContext, _ body: TypedBody<SetRoomNotificationsRequest>
  ) async throws -> TypedResponse<Room> {
    let level = try await body.decoded().level.map { try NotificationLevel($0, field: "level") }
    return try await change(.members(.setNotifications(level)), context) { room, _ in
      room.notifications = level?.name
    }
  }

  func setHidden(
    _ context: HansardRequestContext, _ body: TypedBody<HideRoomRequest>
  ) async throws -> TypedResponse<Room> {
    let isHidden = try await body.decoded().isHidden
    return try await change(.members(.setHidden(isHidden)), context) { room, _ in
      room.isHidden = isHidden
    }
  }

  /// Responds with a receipt only, because nothing is left of the room.
  func delete(_ context: HansardRequestContext) async throws -> TypedResponse<RoomReceipt> {
    let id: RoomID = try context.id("roomId")
    let outcome = try await perform(.lifecycle(.delete), on: id, context)
    return try JSONBody.receipt(outcome.result, RoomReceipt(roomId: id, position: outcome.stamp.position))
  }

  /// As `change`, for commands that create a new revision of the room. A repeat without a key finds the room as
  /// requested. The room is then shown unchanged, because its revision must not appear together with values of another
  /// revision.
  private func revise(
    _ command: RoomCommand, _ context: HansardRequestContext, _ show: (inout Room) -> Void
  ) async throws -> TypedResponse<Room> {
    let isKeyed = try context.command() != nil
    return try await change(command, context) { room, outcome in
      guard outcome.isNew || isKeyed else { return }
      room.revision = outcome.stamp.position
      show(&room)
    }
  }

  /// Performs the command. Responds with the current room, in which the requested change is always shown as requested.
  private func change(
    _ command: RoomCommand, _ context: HansardRequestContext, _ show: (inout Room, ChatOutcome) -> Void
  ) async throws -> TypedResponse<Room> {
    let id: RoomID = try context.id("roomId")
    let outcome = try await perform(command, on: id, context)
    var room = try await current(id, context)
    room.position = outcome.stamp.position
    show(&room, outcome)
    return try JSONBody.receipt(outcome.result, room)
  }

  private func perform(
    _ command: RoomCommand, on id: RoomID, _ context: HansardRequestContext
  ) async throws -> ChatOutcome {
    try await chat.performRoom(
      id, command, by: context.actor, command: context.command(), if: context.precondition())
  }

  private func current(_ id: RoomID, _ context: HansardRequestContext) async throws -> Room {
    Room(try await chat.room(id, for: context.reader).0)
  }
}

extension RoomListFilter {
  /// The query's `kind` and `workspaceId`.
  init(_ context: HansardRequestContext) throws {
    let kind = try context.query("kind").map { name in
      guard let kind = RoomKind(name: name) else {
        throw Refusal.invalidQuery("kind must be one of \(RoomKind.allCases.map(\.name).joined(separator: ", ")).")
      }
      return kind
    }
    let workspace = try context.query("workspaceId").map { text in
      guard let id = WorkspaceID(text) else { throw Refusal.invalidQuery("workspaceId must be an ID.") }
      return id
    }
    self.init(kind: kind, workspace: workspace)
  }
}

extension Room {
  /// The room right after its creation, derived only from the events.
  init(_ id: RoomID, _ creation: RoomCreation, _ stamp: Stamp) {
    self.init(
      id: id, name: creation.name, kind: creation.kind.name, createdAt: stamp.time, revision: stamp.position)
    memberCount = (creation.creator == nil ? 0 : 1) + creation.participants.count
    role = creation.creator.map { _ in Role.owner.name }
    workspaceId = creation.workspace
    isPublic = creation.isPublic
    topic = creation.topic.flatMap { $0.isEmpty ? nil : $0 }
    custom = creation.custom.map { CanonicalJSON(unchecked: $0) }
  }

  init(_ row: RoomListRow) {
    self.init(
      id: row.room.id, name: row.room.name, kind: row.room.kind.name, createdAt: row.room.created.time,
      revision: row.room.revision)
    memberCount = Int(row.room.memberCount)
    unreadCount = Int(row.unreadCount)
    mentionCount = Int(row.mentionCount)
    lastMessage = row.room.lastMessage.map { Message($0) }
    if row.isLastFromBlockedUser { lastMessage?.isFromBlockedUser = true }
    role = row.member?.role.name
    mutedUntil = row.member?.mutedUntil
    notifications = row.member?.notifications?.name
    isHidden = row.member?.isHidden ?? false
    silencedUntil = row.member?.silencedUntil
    readMarker = row.member?.read.map { ReadPoint($0) }
    unreadMark = row.member?.unread?.message
    workspaceId = row.room.workspace
    isPublic = row.room.isPublic
    topic = row.room.topic
    picture = row.room.picture
    custom = row.custom.map { CanonicalJSON(unchecked: $0) }
    participants = row.participants
    archivedAt = row.room.archived?.time
  }
}

extension [User] {
  /// Profiles in the order of their IDs.
  init(_ profiles: [UserID: Profile]) {
    self = profiles.sorted { $0.key < $1.key }.map { User($0.key, $0.value) }
  }
}

extension User {
  /// A user whose nickname was erased has an empty one.
  init(_ id: UserID, among profiles: [UserID: Profile]) {
    self.init(id, profiles[id] ?? Profile(nickname: ""))
  }

  init(_ id: UserID, _ profile: Profile) {
    self.init(id: id, nickname: profile.nickname, picture: profile.picture)
  }
}
