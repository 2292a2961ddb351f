import ChatDomain
import ChatPrimitives
import Foundation
import SwiftProtobuf

/// The facts of a room that are about its messages.
extension EventCodec {
  /// Nil for one that was erased, and for a fact that is about no message.
  static func encode(message event: RoomEvent) -> EncodedBody? {
    switch event {
    case .messages(.sent(let message, _, let thread, let content)):
      content.map { encode(message, $0, thread) }
    case .messages(.edited(let message, let place, let edit)):
      edit.map { edit in
        EncodedBody(
          .messageEdited, subject: message.uuid,
          Hansard_V1_MessageEdited.with {
            $0.text = edit.text
            $0.ordinal = place.ordinal
            $0.thread = place.thread
            if !edit.mentions.isEmpty { $0.mentions = .with(edit.mentions) }
          })
      }
    case .messages(.deleted(let message, let place)):
      EncodedBody(
        .messageDeleted, subject: message.uuid,
        Hansard_V1_MessageDeleted.with {
          $0.ordinal = place.ordinal
          $0.thread = place.thread
        })
    case .annotations(.reactionAdded(let message, let place, _, let emoji)):
      EncodedBody(.reactionAdded, subject: message.uuid, Hansard_V1_ReactionChanged.with(emoji, place))
    case .annotations(.reactionRemoved(let message, let place, _, let emoji)):
      EncodedBody(.reactionRemoved, subject: message.uuid, Hansard_V1_ReactionChanged.with(emoji, place))
    case .annotations(.pinned(let message, let place)):
      EncodedBody(.messagePinned, subject: message.uuid, Hansard_V1_PinChanged.with(place))
    case .annotations(.unpinned(let message, let place)):
      EncodedBody(.messageUnpinned, subject: message.uuid, Hansard_V1_PinChanged.with(place))
    case .reading(.markerMoved(_, let message, let ordinal)):
      EncodedBody(.readMarkerMoved, subject: message.uuid, Hansard_V1_ReadMarkerMoved.with { $0.ordinal = ordinal })
    case .reading(.markedUnread(_, let message, let ordinal)):
      EncodedBody(.markedUnread, subject: message.uuid, Hansard_V1_MarkedUnread.with { $0.ordinal = ordinal })
    case .threads(.markerMoved(_, let message, let place)):
      EncodedBody(
        .threadMarkerMoved, subject: message.uuid,
        Hansard_V1_ThreadMarkerMoved.with {
          $0.ordinal = place.ordinal
          $0.thread = place.thread
        })
    case .threads(.followingSet(_, let root, let follows)):
      EncodedBody(
        .threadFollowingSet, subject: root.message.uuid,
        Hansard_V1_ThreadFollowingSet.with {
          $0.ordinal = root.ordinal
          $0.follows = follows
        })
    case .scheduling(.scheduled(let message, let scheduled)):
      EncodedBody(.messageScheduled, subject: message.uuid, Hansard_V1_MessageScheduled.with(scheduled))
    case .scheduling(.changed(let message, let edit)):
      EncodedBody(.scheduledMessageChanged, subject: message.uuid, Hansard_V1_ScheduledMessageChanged.with(edit))
    case .scheduling(.cancelled(let message)):
      EncodedBody(.scheduledMessageCancelled, subject: message.uuid)
    case .scheduling(.failed(let message, let reason)):
      EncodedBody(
        .scheduledMessageFailed, subject: message.uuid,
        Hansard_V1_ScheduledMessageFailed.with { $0.reason = UInt32(reason.rawValue) })
    case .lifecycle, .sharing, .members, .erased:
      nil
    }
  }

  private static func encode(_ message: MessageID, _ content: MessageContent, _ thread: ThreadPlace?) -> EncodedBody {
    guard let thread else {
      return EncodedBody(
        .messageSent, subject: message.uuid,
        Hansard_V1_MessageSent.with {
          $0.text = content.text
          if let details = content.details { $0.details = .with(details) }
        })
    }
    return EncodedBody(
      .threadMessageSent, subject: message.uuid,
      Hansard_V1_ThreadMessageSent.with {
        $0.text = content.text
        if let details = content.details { $0.details = .with(details) }
        $0.rootID = Data(thread.root.message.uuid.bytes)
        $0.rootOrdinal = thread.root.ordinal
        $0.rootAuthor = Data(thread.rootAuthor.uuid.bytes)
        $0.ordinal = thread.ordinal
      })
  }

  /// Nil when the payload was erased and nothing is left to say.
  static func decodeMessage(_ kind: RoomEventKind, _ reader: PayloadReader) throws(CodecError) -> RoomEvent? {
    let subject = try reader.subject(MessageID.self)
    switch kind {
    case .scheduledMessageCancelled: return .scheduling(.cancelled(subject))
    case .messageSent:
      let body = try reader.message(Hansard_V1_MessageSent.self)
      let content = try body.map { body throws(CodecError) in
        try decodeContent(body.text, body.hasDetails ? body.details : nil, reader)
      }
      return .messages(.sent(subject, author: try reader.actor(), thread: nil, content))
    case .threadMessageSent:
      guard let body = try reader.message(Hansard_V1_ThreadMessageSent.self) else { break }
      return .messages(
        .sent(
          subject, author: try reader.actor(), thread: try decodeThread(body, reader),
          try decodeContent(body.text, body.hasDetails ? body.details : nil, reader)))
    case .messageEdited:
      guard let body = try reader.message(Hansard_V1_MessageEdited.self) else { break }
      let edit = MessageEdit(text: body.text, mentions: try decodeMentions(body.mentions, reader))
      return .messages(.edited(subject, at: MessagePlace(thread: body.thread, ordinal: body.ordinal), edit))
    case .messageDeleted:
      guard let body = try reader.message(Hansard_V1_MessageDeleted.self) else { break }
      return .messages(.deleted(subject, at: MessagePlace(thread: body.thread, ordinal: body.ordinal)))
    case .reactionAdded:
      guard let body = try reader.message(Hansard_V1_ReactionChanged.self) else { break }
      return .annotations(.reactionAdded(subject, at: body.place, by: try reader.actor(), emoji: body.emoji))
    case .reactionRemoved:
      guard let body = try reader.message(Hansard_V1_ReactionChanged.self) else { break }
      return .annotations(.reactionRemoved(subject, at: body.place, by: try reader.actor(), emoji: body.emoji))
    case .messagePinned:
      guard let body = try reader.message(Hansard_V1_PinChanged.self) else { break }
      return .annotations(.pinned(subject, at: body.place))
    case .messageUnpinned:
      guard let body = try reader.message(Hansard_V1_PinChanged.self) else { break }
      return .annotations(.unpinned(subject, at: body.place))
    case .readMarkerMoved:
      guard let body = try reader.message(Hansard_V1_ReadMarkerMoved.self) else { break }
      return .reading(.markerMoved(try reader.actor(), to: subject, ordinal: body.ordinal))
    case .markedUnread:
      guard let body = try reader.message(Hansard_V1_MarkedUnread.self) else { break }
      return .reading(.markedUnread(try reader.actor(), from: subject, ordinal: body.ordinal))
    case .threadMarkerMoved:
      guard let body = try reader.message(Hansard_V1_ThreadMarkerMoved.self) else { break }
      let place = MessagePlace(thread: body.thread, ordinal: body.ordinal)
      return .threads(.markerMoved(try reader.actor(), to: subject, at: place))
    case .threadFollowingSet:
      guard let body = try reader.message(Hansard_V1_ThreadFollowingSet.self) else { break }
      let root = ThreadRoot(message: subject, ordinal: body.ordinal)
      return .threads(.followingSet(try reader.actor(), root, follows: body.follows))
    case .messageScheduled:
      guard let body = try reader.message(Hansard_V1_MessageScheduled.self) else { break }
      return .scheduling(.scheduled(subject, try decodeScheduled(body, reader)))
    case .scheduledMessageChanged:
      guard let body = try reader.message(Hansard_V1_ScheduledMessageChanged.self) else { break }
      return .scheduling(.changed(subject, try decodeSchedulingEdit(body, reader)))
    case .scheduledMessageFailed:
      guard let body = try reader.message(Hansard_V1_ScheduledMessageFailed.self) else { break }
      return .scheduling(.failed(subject, try reader.value(body.reason, SchedulingFailure.self)))
    case .roomCreated, .roomRenamed, .roomArchived, .roomEdited, .roomDeleted, .roomRestored, .inviteCreated,
      .inviteRevoked, .memberJoined, .memberAdded, .memberLeft, .memberRemoved, .admissionRepeated, .roomMuted,
      .roleChanged, .memberBanned, .memberUnbanned, .memberSilenced:
      break
    }
    return nil
  }

  private static func decodeThread(
    _ body: Hansard_V1_ThreadMessageSent, _ reader: PayloadReader
  ) throws(CodecError) -> ThreadPlace {
    guard let root = try reader.id(body.rootID) as MessageID? else { throw reader.failure(.missingField, "root_id") }
    guard let author = try reader.id(body.rootAuthor) as UserID? else {
      throw reader.failure(.missingField, "root_author")
    }
    return ThreadPlace(
      root: ThreadRoot(message: root, ordinal: body.rootOrdinal), rootAuthor: author, ordinal: body.ordinal)
  }
}

extension Hansard_V1_ReactionChanged {
  fileprivate static func with(_ emoji: String, _ place: MessagePlace) -> Self {
    .with {
      $0.emoji = emoji
      $0.ordinal = place.ordinal
      $0.thread = place.thread
    }
  }

  fileprivate var place: MessagePlace { MessagePlace(thread: thread, ordinal: ordinal) }
}

extension Hansard_V1_PinChanged {
  fileprivate static func with(_ place: MessagePlace) -> Self {
    .with {
      $0.ordinal = place.ordinal
      $0.thread = place.thread
    }
  }

  fileprivate var place: MessagePlace { MessagePlace(thread: thread, ordinal: ordinal) }
}
