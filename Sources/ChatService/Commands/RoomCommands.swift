package import ChatDomain
package import ChatPrimitives

extension ChatService {
  package func performRoom(
    _ room: RoomID, _ wish: RoomCommand, by principal: Principal, command: CommandID? = nil
  )
    async throws(ServiceError) -> ChatOutcome
  {
    try await perform(Request(principal, .room(room, wish), command: command))
  }

  /// The command that sends a message; its fingerprint is made here, so that the writer need not hash.
  package func send(
    _ content: MessageContent, as message: MessageID, to room: RoomID, by principal: Principal,
    originalTime: Timestamp? = nil
  ) throws(ServiceError) -> Request {
    guard let author = principal.user else { throw .rejected(.forbidden) }
    let wish = RoomCommand.sendMessage(
      message, content, fingerprint: .message(content, author: author), prior: nil)
    return Request(principal, .room(room, wish), originalTime: originalTime)
  }
}
