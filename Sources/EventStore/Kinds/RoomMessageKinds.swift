import ChatDomain
import ChatPrimitives
import Foundation
import SwiftProtobuf

extension RoomEvent.Messages: KindFamily {
  static let kinds = [sentKind, editedKind, deletedKind, sentInThreadKind]

  var kind: Kind<Self> {
    switch self {
    case .sent(_, _, nil, _): Self.sentKind
    case .sent: Self.sentInThreadKind
    case .edited: Self.editedKind
    case .deleted: Self.deletedKind
    }
  }

  /// An erased message keeps its ordinal in the room.
  static let sentKind = Kind<Self>(
    130, "message.sent", .disclosed,
    write: { event, output in
      guard case .sent(let message, _, _, let content) = event else { return }
      if let content, content.details == nil {
        return output.write(subject: message.uuid, text: content.text, shows: .content(content))
      }
      output.write(
        subject: message.uuid,
        content.map { content in
          Hansard_V1_MessageSent.with {
            $0.text = content.text
            if let details = content.details { $0.details = .with(details) }
          }
        }, shows: content.map { .content($0) } ?? EventOutput.erased)
    },
    readErasable: { (body: Hansard_V1_MessageSent?, reader) in
      var content: MessageContent?
      if let body {
        content = try EventCodec.decodeContent(body.text, body.hasDetails ? body.details : nil, reader)
      }
      return .sent(try reader.subject(MessageID.self), author: try reader.actor(), thread: nil, content)
    })

  /// `ErasedReplies` restores an erased reply, because only the payload names its thread.
  static let sentInThreadKind = Kind<Self>(
    137, "thread-message.sent", .disclosed,
    write: { event, output in
      guard case .sent(let message, _, let thread?, let content) = event else { return }
      output.write(
        subject: message.uuid, content.map { Hansard_V1_ThreadMessageSent.with($0, in: thread) },
        shows: .thread(thread) + (content.map { .content($0) } ?? EventOutput.erased))
    },
    read: { (body: Hansard_V1_ThreadMessageSent, reader) in
      .sent(
        try reader.subject(MessageID.self), author: try reader.actor(), thread: try reader.thread(body),
        try EventCodec.decodeContent(body.text, body.hasDetails ? body.details : nil, reader))
    })

  private static let editedKind = Kind<Self>(
    131, "message.edited", .disclosed,
    write: { event, output in
      guard case .edited(let message, let location, let edit) = event else { return }
      output.write(
        subject: message.uuid,
        edit.map { edit in
          Hansard_V1_MessageEdited.with {
            if let text = edit.text { $0.text = text } else { $0.keepsText = true }
            $0.ordinal = location.ordinal
            $0.thread = location.thread
            if !edit.mentions.isEmpty { $0.mentions = .with(edit.mentions) }
            if let customBody = edit.customBody { $0.customBody = customBody }
          }
        },
        shows: .location(location)
          + (edit?.shownFields ?? EventOutput.erased))
    },
    read: { (body: Hansard_V1_MessageEdited, reader) in
      .edited(
        try reader.subject(MessageID.self), at: MessageLocation(thread: body.thread, ordinal: body.ordinal),
        MessageEdit(
          text: body.keepsText ? nil : body.text, mentions: try EventCodec.decodeMentions(body.mentions, reader),
          customBody: body.hasCustomBody ? body.customBody : nil))
    })

  static let deletedKind = Kind<Self>(
    132, "message.deleted", .disclosed,
    write: { event, output in
      guard case .deleted(let message, let location) = event else { return }
      output.write(
        subject: message.uuid,
        Hansard_V1_MessageDeleted.with {
          $0.ordinal = location.ordinal
          $0.thread = location.thread
        }, shows: .location(location))
    },
    read: { (body: Hansard_V1_MessageDeleted, reader) in
      .deleted(try reader.subject(MessageID.self), at: MessageLocation(thread: body.thread, ordinal: body.ordinal))
    })
}

extension MessageEdit {
  /// The fields that the edit changes.
  fileprivate var shownFields: ShownFields {
    var fields: ShownFields = []
    if let text { fields += [("text", .text(text))] + .mentions(mentions) }
    if let customBody { fields.append(("customBody", .text(customBody))) }
    return fields
  }
}

extension Hansard_V1_ThreadMessageSent {
  fileprivate static func with(_ content: MessageContent, in thread: ThreadLocation) -> Self {
    .with {
      $0.text = content.text
      if let details = content.details { $0.details = .with(details) }
      $0.rootID = Data(thread.root.message.uuid.bytes)
      $0.rootOrdinal = thread.root.ordinal
      $0.rootAuthor = Data(thread.rootAuthor.uuid.bytes)
      $0.ordinal = thread.ordinal
    }
  }
}

extension PayloadReader {
  fileprivate func thread(_ body: Hansard_V1_ThreadMessageSent) throws(CodecError) -> ThreadLocation {
    guard let root = try id(body.rootID) as MessageID? else { throw failure(.missingField, "root_id") }
    guard let author = try id(body.rootAuthor) as UserID? else { throw failure(.missingField, "root_author") }
    return ThreadLocation(
      root: ThreadRoot(message: root, ordinal: body.rootOrdinal), rootAuthor: author, ordinal: body.ordinal)
  }
}
