package import ChatDomain
package import ChatPrimitives
import Foundation
import SwiftProtobuf

/// Encodes a message's details as in the log. A read model keeps them in one column.
package enum DetailsCodec {
  package static func encode(_ details: MessageDetails) throws -> [UInt8] {
    try Hansard_V1_MessageDetails.with(details).serializedBytes()
  }

  /// - Throws: `DetailsError`, or an error of `SwiftProtobuf`.
  package static func decode(_ bytes: [UInt8]) throws -> MessageDetails {
    let body = try Hansard_V1_MessageDetails(serializedBytes: bytes)
    return MessageDetails(
      replyTo: try id(body.replyTo), at: body.replyLocation, mentions: try mentions(body.mentions),
      attachments: try body.attachments.map { attachment in
        guard let media: MediaID = try id(attachment.mediaID) else { throw DetailsError.missingMedia }
        return Attachment(
          media: media, content: Media(attachment.content), name: attachment.hasName ? attachment.name : nil)
      },
      custom: body.hasCustom ? CustomPart(body.custom) : nil)
  }

  private static func mentions(_ body: Hansard_V1_Mentions) throws -> Mentions {
    Mentions(users: try body.users.compactMap { try id($0) }, everyone: body.everyone)
  }

  private static func id<Entity>(_ bytes: Data) throws -> ID<Entity>? {
    if bytes.isEmpty { return nil }
    guard let uuid = UUIDBytes(bytes: Array(bytes)) else { throw DetailsError.malformedID(bytes: bytes.count) }
    return ID(uuid)
  }
}

/// A flaw in a message's details in a read model.
package enum DetailsError: Error, Sendable, Hashable {
  case missingMedia
  case malformedID(bytes: Int)
}
