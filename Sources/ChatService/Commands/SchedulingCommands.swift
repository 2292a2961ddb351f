package import ChatDomain
package import ChatPrimitives
import ChatProjections

extension ChatService {
  /// The command that schedules a message in the name of the principal. Its attachments are not looked up yet: see
  /// `withMedia`.
  package func schedule(
    _ message: NewMessage, as id: MessageID, to room: RoomID, at time: Timestamp, by principal: Principal
  ) throws(ServiceError) -> Request {
    guard principal.user != nil else { throw .rejected(.forbidden) }
    return Request(principal, .room(room, .scheduling(.schedule(id, message, at: time))))
  }

  /// The command with which the server sends a message that is due.
  func sendScheduled(_ due: ScheduledRow) -> Request {
    Request(
      Principal(user: due.message.author, service: scheduler),
      .room(due.room, .scheduling(.send(due.id, due.message, revision: due.revision))))
  }

  /// The service ID that the log has for what the scheduler does.
  private var scheduler: ServiceID {
    let bytes = keys.authenticationCode(for: "scheduler-service-id", []).prefix(UUIDBytes.byteCount)
    return ServiceID(UUIDBytes(bytes: bytes) ?? .zero)
  }
}
