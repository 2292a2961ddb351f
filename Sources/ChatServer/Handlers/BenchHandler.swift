import ChatPrimitives
import ChatProtocol
import Hummingbird

/// Does all that sending a message does but for deciding and writing it: what the durable endpoint is measured against.
struct BenchHandler: Sendable {
  func run(_ exchange: Exchange, _ body: TypedBody<SendMessageRequest>) async throws -> TypedResponse<Message> {
    let id: MessageID = try exchange.id("messageId")
    let body = try await body.decoded()
    let user = try exchange.user
    return try JSONBody.receipt(
      true,
      Message(
        id: id, roomId: RoomID(id.uuid), senderId: user, text: body.text ?? "", sentAt: exchange.receivedAt,
        position: .first, revision: .first, editedAt: nil, deletedAt: nil))
  }
}
