package import ChatDomain
package import ChatPrimitives
import ChatProjections
import MediaFiles

extension ChatService {
  /// The command that sends a message. Its attachments are not looked up yet: see `withMedia`.
  package func send(
    _ message: NewMessage, as id: MessageID, to room: RoomID, by principal: Principal,
    originalTime: Timestamp? = nil
  ) throws(ServiceError) -> Request {
    guard principal.user != nil else { throw .rejected(.forbidden) }
    return Request(principal, .room(room, .messages(.send(id, message))), originalTime: originalTime)
  }

  /// The request with what is known of the files that it attaches. If one of them is not known, the writer refuses the
  /// message, unless it is a retry: a retry never depends on files. The files are not collected while the request or
  /// its command exists.
  package func withMedia(_ request: Request) async throws(ServiceError) -> Request {
    guard request.lacksMedia, let author = request.command.context.actor,
      let attachments = request.message?.attachments,
      attachments.count <= Limits.attachmentsPerMessage,
      let (known, hold) = try await heldMedia(attachments.map(\.media), for: author)
    else { return request }
    var request = request
    request.command.known.media = known
    request.hold = hold
    return request
  }

  /// The details of a request's message, for the receipt of its success.
  ///
  /// If the files were not looked up, or the author can no longer see them, the request is a retry: the author attached
  /// them once, and what is known of a file never changes. So the receipt equals the first one, even if the message or
  /// a file has been deleted. It lacks files whose upload was erased.
  package func receiptDetails(of request: Request) async throws(ServiceError) -> MessageDetails? {
    guard let message = request.message, !message.isPlain else { return nil }
    var media = request.command.known.media
    if request.lacksMedia {
      let rows = try await mediaRows { rows in
        try message.attachments.compactMap { try rows.media($0.media, for: nil) }
      }
      media = Dictionary(rows.map { ($0.id, $0.content) }) { first, _ in first }
    }
    return MessageDetails(of: message, media)
  }
}

extension ChatService.Request {
  /// The message that the request sends or schedules.
  fileprivate var message: NewMessage? {
    switch command.operation {
    case .room(_, .messages(.send(_, let message))), .room(_, .scheduling(.schedule(_, let message, _))): message
    case .user, .room, .workspace, .roomInvite, .workspaceInvite, .acceptInvite, .server, .rotateSigningKey,
      .legalHold:
      nil
    }
  }

  /// The details of its message, if it attaches no files and has any.
  package var detailsWithoutFiles: MessageDetails? {
    guard let message, !message.isPlain else { return nil }
    return MessageDetails(of: message, [:])
  }

  /// Whether it attaches files that were not looked up.
  package var lacksMedia: Bool { command.known.media.isEmpty && message?.attachments.isEmpty == false }
}

extension MessageDetails {
  /// - Parameter media: the files that are known, of those that the message attaches.
  fileprivate convenience init(of message: NewMessage, _ media: [MediaID: Media]) {
    self.init(
      replyTo: message.replyTo, mentions: message.mentions,
      attachments: message.attachments.compactMap { attachment in
        media[attachment.media].map { Attachment(media: attachment.media, content: $0, name: attachment.name) }
      }, custom: message.custom)
  }
}
