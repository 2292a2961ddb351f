import ChatPrimitives
import ChatProtocol
import ChatService
import Hummingbird

/// What the caller does right now. Nothing of it is recorded.
struct PresenceHandlers: Sendable {
  let chat: ChatService

  func setTyping(
    _ context: HansardRequestContext, _ body: TypedBody<SetTypingRequest>
  ) async throws -> TypedResponse<TypingStatus> {
    let room: RoomID = try context.id("roomId")
    let typing = try await body.decoded().typing
    try await chat.setTyping(typing, in: room, by: context.user)
    return try JSONBody.response(TypingStatus(roomId: room, typing: typing))
  }

  func setPresence(
    _ context: HansardRequestContext, _ body: TypedBody<SetPresenceRequest>
  ) async throws -> TypedResponse<PresenceStatus> {
    let name = try await body.decoded().presence
    guard let presence = Presence(rawValue: name), presence != .offline else {
      throw Refusal.invalidField("presence must be online or away.", at: "/presence")
    }
    let hasStream = try chat.setPresence(presence, of: context.user, session: context.principal?.session)
    return try JSONBody.response(PresenceStatus(presence: (hasStream ? presence : .offline).rawValue))
  }

  func setOpenRooms(
    _ context: HansardRequestContext, _ body: TypedBody<SetOpenRoomsRequest>
  ) async throws -> TypedResponse<OpenRoomList> {
    let rooms = try await body.decoded().roomIds
    guard rooms.count <= Limits.openRoomsOfDevice else {
      throw Refusal.invalidField("roomIds can have at most \(Limits.openRoomsOfDevice) elements.", at: "/roomIds")
    }
    let user = try context.user
    let isOpen = context.principal?.device.map { chat.setOpenRooms(Set(rooms), on: $0, of: user) } ?? false
    return try JSONBody.response(OpenRoomList(roomIds: isOpen ? rooms : []))
  }
}

extension StreamTyping {
  init(_ notice: TypingNotice) {
    self.init(roomId: notice.room, userId: notice.user, until: notice.until)
  }
}

extension StreamPresence {
  init(_ notice: PresenceNotice) {
    self.init(userId: notice.user, presence: notice.presence.rawValue)
  }
}
