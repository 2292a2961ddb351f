import ChatDomain
import ChatPrimitives
import Foundation
import SwiftProtobuf

/// Converts the content of a message to and from payloads.
extension EventCodec {
  static func decodeContent(
    _ text: String, _ details: Hansard_V1_MessageDetails?, _ reader: PayloadReader
  ) throws(CodecError) -> MessageContent {
    guard let details else { return MessageContent(text: text) }
    var attachments: [Attachment] = []
    for body in details.attachments {
      guard let media = try reader.id(body.mediaID) as MediaID? else { throw reader.failure(.missingField, "media_id") }
      attachments.append(
        Attachment(media: media, content: Media(body.content), name: body.hasName ? body.name : nil))
    }
    let custom = details.hasCustom ? CustomPart(details.custom) : nil
    return MessageContent(
      text: text,
      details: MessageDetails(
        replyTo: try reader.id(details.replyTo), at: details.replyLocation,
        mentions: try decodeMentions(details.mentions, reader), attachments: attachments, custom: custom))
  }

  static func decodeMentions(
    _ body: Hansard_V1_Mentions, _ reader: PayloadReader
  ) throws(CodecError) -> Mentions {
    Mentions(users: try reader.ids(body.users), everyone: body.everyone)
  }
}

extension Hansard_V1_MessageDetails {
  static func with(_ details: MessageDetails) -> Self {
    .with {
      if let message = details.replyTo { $0.replyTo = Data(message.uuid.bytes) }
      if !details.mentions.isEmpty { $0.mentions = .with(details.mentions) }
      $0.attachments = details.attachments.map { .with($0) }
      if let custom = details.custom {
        $0.custom = .with {
          $0.type = custom.type
          $0.body = custom.body
          $0.silent = custom.isSilent
        }
      }
      if let location = details.replyLocation {
        $0.replyOrdinal = location.ordinal
        $0.replyThread = location.thread
      }
    }
  }

  /// Ordinals begin with 1.
  var replyLocation: MessageLocation? {
    replyOrdinal == 0 ? nil : MessageLocation(thread: replyThread, ordinal: replyOrdinal)
  }
}

extension CustomPart {
  init(_ body: Hansard_V1_CustomPart) {
    self.init(type: body.type, body: body.body, isSilent: body.silent)
  }
}

extension Hansard_V1_Mentions {
  static func with(_ mentions: Mentions) -> Self {
    .with {
      $0.users = mentions.users.map { Data($0.uuid.bytes) }
      $0.everyone = mentions.everyone
    }
  }
}

extension Hansard_V1_Attachment {
  fileprivate static func with(_ attachment: Attachment) -> Self {
    .with {
      $0.mediaID = Data(attachment.media.uuid.bytes)
      $0.content = .with(attachment.content)
      if let name = attachment.name { $0.name = name }
    }
  }
}

extension Hansard_V1_MediaContent {
  static func with(_ media: Media) -> Self {
    .with {
      $0.hash = Data(media.hash)
      $0.contentType = media.contentType
      $0.size = media.size
      if let width = media.width { $0.width = width }
      if let height = media.height { $0.height = height }
    }
  }
}

extension Media {
  init(_ body: Hansard_V1_MediaContent) {
    self.init(
      hash: Array(body.hash), contentType: body.contentType, size: body.size, width: body.hasWidth ? body.width : nil,
      height: body.hasHeight ? body.height : nil)
  }
}
