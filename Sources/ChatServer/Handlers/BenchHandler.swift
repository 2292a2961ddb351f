import ChatDomain
import ChatPrimitives
import ChatProtocol
import Hummingbird

/// Does everything that sending a message does except deciding and writing. The durable endpoint is measured against
/// it.
struct BenchHandler: Sendable {
  func run(
    _ context: HansardRequestContext, _ body: TypedBody<SendMessageRequest>
  ) async throws -> TypedResponse<Message> {
    let id: MessageID = try context.id("messageId")
    let body = try await body.decoded()
    let user = try context.user
    let room = RoomID(id.uuid)
    return try JSONBody.receipt(
      .created(.message(id, room)),
      Message(
        id: id, roomId: room, senderId: user, text: body.text ?? "", sentAt: context.receivedAt,
        position: .first, revision: .first, editedAt: nil, deletedAt: nil))
  }
}
