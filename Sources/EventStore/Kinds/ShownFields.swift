import ChatDomain
import ChatPrimitives

/// Fields that several kinds show.
typealias ShownFields = [(String, JSONValue)]

extension ShownFields {
  static func location(_ location: MessageLocation) -> ShownFields {
    let ordinal: ShownFields = [("ordinal", .number(location.ordinal))]
    return location.isInThread ? ordinal + [("thread", .number(location.thread))] : ordinal
  }

  static func thread(_ thread: ThreadLocation) -> ShownFields {
    [("threadRoot", .text(thread.root.message.description)), ("ordinal", .number(thread.ordinal))]
  }

  static func content(_ content: MessageContent) -> ShownFields {
    var fields: ShownFields = [("text", .text(content.text))]
    guard let details = content.details else { return fields }
    if let replyTo = details.replyTo { fields.append(("replyTo", .text(replyTo.description))) }
    fields += mentions(details.mentions)
    if !details.attachments.isEmpty {
      let attachments = details.attachments.map { attachment in
        JSONValue.object(
          [("media", .text(attachment.media.description)), ("name", .text(orNull: attachment.name))]
            + media(attachment.content))
      }
      fields.append(("attachments", .list(attachments)))
    }
    if let custom = details.custom {
      fields += [("customType", .text(custom.type)), ("customBody", .text(custom.body))]
      if custom.isSilent { fields.append(("silent", .bool(true))) }
    }
    return fields
  }

  static func mentions(_ mentions: Mentions) -> ShownFields {
    var fields: ShownFields = []
    if !mentions.users.isEmpty {
      fields.append(("mentions", .list(mentions.users.map { .text($0.description) })))
    }
    if mentions.everyone { fields.append(("mentionsEveryone", .bool(true))) }
    return fields
  }

  static func media(_ media: Media) -> ShownFields {
    [
      ("sha256", .text(Hexadecimal.text(media.hash))),
      ("contentType", .text(media.contentType)), ("bytes", .number(media.size)),
    ]
  }

  /// The fields that an edit changes.
  static func edit(name: String?, topic: String?, picture: PictureEdit?) -> ShownFields {
    var fields: ShownFields = []
    if let name { fields.append(("name", .text(name))) }
    if let topic { fields.append(("topic", .text(topic))) }
    if let picture { fields.append(("picture", .text(orNull: picture.media?.description))) }
    return fields
  }

  static func invite(_ invite: InviteLink<some InvitableRole>, role: String) -> ShownFields {
    let fields: ShownFields = [
      ("role", .text(role)), ("expiresAt", .text(orNull: invite.expiresAt?.rfc3339)),
      ("maximumUses", invite.maximumUses.map { .number(UInt64($0)) } ?? .null),
    ]
    return invite.codeHash == nil ? fields : fields + [("hasCode", .bool(true))]
  }

  static func until(_ time: Timestamp?) -> ShownFields { [("until", .text(orNull: time?.rfc3339))] }
}
