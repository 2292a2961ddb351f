package import ChatDomain
package import ChatPrimitives
import ChatProjections

extension ChatService {
  /// The command that has a message sent at its time, in the name of whoever asks. What attachments there are is not
  /// looked up yet: see `withMedia`.
  package func schedule(
    _ message: NewMessage, as id: MessageID, to room: RoomID, at time: Timestamp, by principal: Principal
  ) throws(ServiceError) -> Request {
    guard principal.user != nil else { throw .rejected(.forbidden) }
    return Request(principal, .room(room, .scheduling(.schedule(id, message, at: time))))
  }

  /// The command by which the server sends what is due.
  func sendScheduled(_ due: ScheduledRow) -> Request {
    Request(
      Principal(user: due.message.author, service: scheduler),
      .room(due.room, .scheduling(.send(due.id, due.message, revision: due.revision))))
  }

  /// The name under which the log records what the scheduler does.
  private var scheduler: ServiceID {
    let bytes = keys.authenticationCode(for: "scheduler-service-id", []).prefix(UUIDBytes.byteCount)
    return ServiceID(UUIDBytes(bytes: bytes) ?? .zero)
  }
}
