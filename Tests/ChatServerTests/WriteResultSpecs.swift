import ChatDomain
import ChatPrimitives
import HTTPTypes
import Testing

@testable import ChatServer

/// The status and headers of the response to a write.
@Suite struct WriteResultSpecs {
  private let room = RoomID(UUIDBytes(high: 1, low: 2))
  private let message = MessageID(UUIDBytes(high: 3, low: 4))
  private let user = UserID(UUIDBytes(high: 5, low: 6))

  @Test("what was created gets 201 and its path, and a repeat is marked")
  func statuses() {
    let created = WriteResult.created(.message(message, room))
    #expect(created.status == .created)
    #expect(created.headers == [.location: "/v1/rooms/\(room)/messages/\(message)"])
    #expect(WriteResult.changed.status == .ok && WriteResult.changed.headers == [:])
    #expect(WriteResult.repeated.status == .ok)
    #expect(WriteResult.repeated.headers == [.idempotentReplayed: "true"])
  }

  @Test("the path of a reaction is percent-encoded")
  func reaction() {
    #expect(CreatedEntity.reaction("👍", message, room).path.hasSuffix("/reactions/%F0%9F%91%8D"))
    #expect(CreatedEntity.reaction(":tea/pot:", message, room).path.hasSuffix("/reactions/%3Atea%2Fpot%3A"))
  }

  @Test("an event that only changes something creates nothing")
  func changes() {
    #expect(
      ChatEvent.room(room, .messages(.sent(message, author: user, thread: nil, nil))).created == .message(message, room)
    )
    #expect(ChatEvent.room(room, .members(.left(user))).created == nil)
    #expect(ChatEvent.room(room, .members(.admissionRepeated(user, .member))).created == nil)
    #expect(ChatEvent.user(user, .account(.enabled)).created == nil)
    #expect(ChatEvent.user(user, .blocks(.blocked(user))).created == .block(user))
    let hold = LegalHold(.room(room), reason: "case 7")
    #expect(ChatEvent.server(.legalHoldPlaced(hold)).created == .legalHold(.room(room)))
    #expect(ChatEvent.server(.legalHoldLifted(.on(.room(room)))).created == nil)
  }
}
