import ChatDomain
import ChatPrimitives
import ChatProjections
import ChatProtocol
import ChatService
import Hummingbird

struct RoomHandlers: Sendable {
  let chat: ChatService

  func create(_ exchange: Exchange) async throws -> Response {
    let body = try await exchange.body(CreateRoomRequest.self)
    let actor = try exchange.actor
    let id = body.id ?? FreshID.make()
    let kind = try Self.kind(body.kind)
    let outcome = try await chat.performRoom(
      id, .create(RoomCreation(kind: kind, name: body.name, creator: actor.user)), by: actor)
    return try JSONBody.receipt(
      outcome.isNew,
      Room(
        id: id, name: body.name, kind: kind.name, memberCount: actor.user == nil ? 0 : 1, unreadCount: 0,
        mentionCount: 0, lastMessage: nil, role: actor.user == nil ? nil : Role.owner.name, mutedUntil: nil,
        createdAt: outcome.stamp.time, archivedAt: nil, position: outcome.stamp.position))
  }

  /// The kinds that a client may make. Direct rooms come with the pair that they belong to.
  static func kind(_ name: String?) throws -> RoomKind {
    guard let name else { return .group }
    guard let kind = RoomKind.allCases.first(where: { $0.name == name }), kind != .direct else {
      throw Refusal.invalidField("kind must be group or channel.")
    }
    return kind
  }

  func list(_ exchange: Exchange) async throws -> Response {
    let user = try exchange.user
    let cursors = PageCursors(.rooms, of: user, in: chat.logIdentity)
    let page = try await chat.roomList(
      of: user, after: cursors.position(in: exchange.query("cursor")), limit: exchange.limit())
    return try JSONBody.answer(
      RoomList(
        rooms: page.rooms.map { Room($0) }, users: [User](page.nicknames),
        nextCursor: page.next.map { cursors.cursor(at: $0.value) }))
  }

  func get(_ exchange: Exchange) async throws -> Response {
    try JSONBody.answer(try await current(exchange.id("roomId"), exchange))
  }

  func update(_ exchange: Exchange) async throws -> Response {
    let body = try await exchange.body(UpdateRoomRequest.self)
    return try await change(.edit(RoomEdit(name: body.name)), exchange) { $0.name = body.name }
  }

  func archive(_ exchange: Exchange) async throws -> Response {
    try await change(.archive, exchange) { _ in }
  }

  func mute(_ exchange: Exchange) async throws -> Response {
    let body = try await exchange.body(MuteRoomRequest.self)
    return try await change(.mute(until: body.until), exchange) { $0.mutedUntil = body.until }
  }

  func badge(_ exchange: Exchange) async throws -> Response {
    let badge = try await chat.badge(of: exchange.user)
    return try JSONBody.answer(Badge(unreadCount: Int(badge.count), mentionCount: 0, position: badge.position))
  }

  /// Does it, and answers with the room as it is, in which what was asked for is shown as it was asked for.
  private func change(_ wish: RoomCommand, _ exchange: Exchange, _ show: (inout Room) -> Void) async throws -> Response
  {
    let id: RoomID = try exchange.id("roomId")
    let outcome = try await chat.performRoom(id, wish, by: exchange.actor, command: exchange.command())
    var room = try await current(id, exchange)
    show(&room)
    room.position = outcome.stamp.position
    return try JSONBody.receipt(outcome.isNew, room)
  }

  private func current(_ id: RoomID, _ exchange: Exchange) async throws -> Room {
    Room(try await chat.room(id, for: exchange.user).0)
  }
}

extension Room {
  init(_ row: RoomListRow) {
    self.init(
      id: row.room.id, name: row.room.name, kind: row.room.kind.name, memberCount: Int(row.room.memberCount),
      unreadCount: Int(row.unreadCount), mentionCount: Int(row.mentionCount),
      lastMessage: row.room.lastMessage.map { Message($0) }, role: row.member.role.name,
      mutedUntil: row.member.mutedUntil, createdAt: row.room.created.time, archivedAt: row.room.archived?.time,
      position: row.room.revision)
  }
}

extension Message {
  init(_ row: MessageRow) {
    self.init(
      id: row.id, roomId: row.room, senderId: row.sender, text: row.text, sentAt: row.sentAt, position: row.position,
      revision: row.revision, editedAt: row.editedAt, deletedAt: row.deletedAt)
  }
}

extension [User] {
  /// Profiles in the order of their IDs.
  init(_ nicknames: [UserID: String]) {
    self = nicknames.sorted { $0.key < $1.key }.map { User(id: $0.key, nickname: $0.value) }
  }
}
