package import ChatDomain
package import ChatPrimitives
import ChatProjections
import MediaFiles

/// A message as a client asks for it.
package struct NewMessage: Sendable, Hashable {
  package var text: String
  package var replyTo: MessageID?
  /// The root of the thread that it goes into.
  package var thread: MessageID?
  package var mentions: Mentions
  package var attachments: [AttachedMedia]
  package var custom: CustomPart?

  package struct AttachedMedia: Sendable, Hashable {
    package var media: MediaID
    package var name: String?

    package init(media: MediaID, name: String?) {
      self.media = media
      self.name = name
    }
  }

  /// - Parameter mentions: in any order, and each as often as the client said it.
  package init(
    text: String, replyTo: MessageID? = nil, thread: MessageID? = nil, mentions: Mentions = Mentions(),
    attachments: [AttachedMedia] = [], custom: CustomPart? = nil
  ) {
    self.text = text
    self.replyTo = replyTo
    self.thread = thread
    self.mentions = mentions.normalized
    self.attachments = attachments
    self.custom = custom
  }

  package static func plain(_ text: String) -> NewMessage { NewMessage(text: text) }

  /// What it says, with nothing known of its files yet.
  var content: MessageContent {
    if replyTo == nil, mentions.isEmpty, attachments.isEmpty, custom == nil { return .plain(text) }
    return MessageContent(
      text: text,
      details: MessageDetails(
        replyTo: replyTo, mentions: mentions,
        attachments: attachments.map {
          Attachment(media: $0.media, content: Media(hash: [], contentType: "", size: 0), name: $0.name)
        }, custom: custom))
  }
}

extension NewMessage {
  /// What it refers to; nil for one that refers to nothing.
  var references: MessageReferences? {
    guard thread != nil || !attachments.isEmpty else { return nil }
    return MessageReferences(thread: thread, lacksMedia: !attachments.isEmpty)
  }
}

extension Mentions {
  /// Each user once, in the order of their IDs, so that the same mentions are the same bytes.
  package var normalized: Mentions {
    users.isEmpty ? self : Mentions(users: Set(users).sorted(), everyone: everyone)
  }
}

extension ChatService {
  /// The command that sends a message; its fingerprint is made here, so that the writer need not hash. What attachments
  /// there are is not looked up yet: see `withMedia`.
  package func send(
    _ message: NewMessage, as id: MessageID, to room: RoomID, by principal: Principal,
    originalTime: Timestamp? = nil
  ) throws(ServiceError) -> Request {
    guard let author = principal.user else { throw .rejected(.forbidden) }
    let content = message.content
    let command = RoomCommand.sendMessage(
      id, content, fingerprint: .message(content, author: author, thread: message.thread), prior: nil,
      references: message.references)
    return Request(principal, .room(room, command), originalTime: originalTime)
  }

  /// The request with what is known of the files that it attaches. Where one is not known, the writer refuses the
  /// message, unless it stands there already: so a retry never depends on what became of a file. None of the files is
  /// collected while the request, or the command that it becomes, is there.
  package func withMedia(_ request: Request) async throws(ServiceError) -> Request {
    guard request.lacksMedia, let author = request.context.actor, case .room(let room, let command) = request.operation
    else {
      return request
    }
    var request = request
    if case .sendMessage(let id, let content, let fingerprint, let prior, let references) = command,
      let (resolved, hold) = try await withMedia(content, of: author)
    {
      request.hold = hold
      request.operation = .room(
        room,
        .sendMessage(
          id, resolved, fingerprint: fingerprint, prior: prior,
          references: MessageReferences(thread: references?.thread)))
    } else if case .scheduleMessage(let id, var message, let prior, let sent, let references) = command,
      let (resolved, hold) = try await withMedia(message.content, of: author)
    {
      message.content = resolved
      request.hold = hold
      request.operation = .room(
        room,
        .scheduleMessage(
          id, message, prior: prior, sent: sent, references: MessageReferences(thread: references?.thread)))
    }
    return request
  }

  /// What the message of a request says beside its text, for the receipt of its success.
  ///
  /// Where files were not looked up, or not found by the author any more, the request is a repeat: the author attached them
  /// once, and what is known of a medium never changes. So whoever may repeat is told the same as the first time, whatever
  /// became of the message, the files and the right to see them. Of a medium whose upload was erased nothing is known.
  package func receiptDetails(of request: Request) async throws(ServiceError) -> MessageDetails? {
    guard let details = request.content?.details, request.lacksMedia else { return request.content?.details }
    let known = try await mediaRows { media in
      try details.attachments.compactMap { attachment in
        try media.media(attachment.media, for: nil).map {
          Attachment(media: attachment.media, content: $0.content, name: attachment.name)
        }
      }
    }
    return MessageDetails(
      replyTo: details.replyTo, mentions: details.mentions, attachments: known, custom: details.custom)
  }

  /// Nil where a file is not known, or there are more than a message may have.
  private func withMedia(
    _ content: MessageContent, of author: UserID
  ) async throws(ServiceError) -> (MessageContent, MediaHold)? {
    guard let details = content.details, details.attachments.count <= Limits.attachmentsPerMessage else { return nil }
    guard let (known, hold) = try await heldMedia(details.attachments.map(\.media), for: author) else { return nil }
    let attachments = details.attachments.compactMap { attachment in
      known[attachment.media].map { Attachment(media: attachment.media, content: $0, name: attachment.name) }
    }
    let resolved = MessageContent(
      text: content.text,
      details: MessageDetails(
        replyTo: details.replyTo, mentions: details.mentions, attachments: attachments, custom: details.custom))
    return (resolved, hold)
  }
}

extension ChatService.Request {
  /// Of the message that it sends or schedules.
  var content: MessageContent? {
    switch operation {
    case .room(_, .sendMessage(_, let content, _, _, _)): content
    case .room(_, .scheduleMessage(_, let message, _, _, _)): message.content
    case .user, .room, .workspace, .roomInvite, .workspaceInvite, .acceptInvite, .server, .rotateSigningKey: nil
    }
  }

  /// Whether it attaches files that were not looked up.
  package var lacksMedia: Bool {
    if case .room(_, .sendMessage(_, _, _, _, let references)) = operation { return references?.lacksMedia == true }
    if case .room(_, .scheduleMessage(_, _, _, _, let references)) = operation { return references?.lacksMedia == true }
    return false
  }
}
