import ChatDomain
import ChatPrimitives

extension EventDetail {
  static func fields(of event: RoomEvent) -> [(String, JSONValue)] {
    switch event {
    case .lifecycle(.created(let creation)): fields(of: creation)
    case .lifecycle(.edited(let edit)): fields(name: edit.name, topic: edit.topic, picture: edit.picture)
    case .lifecycle(.archived), .lifecycle(.restored), .lifecycle(.deleted), .sharing(.inviteRevoked), .members(.left),
      .members(.removed), .members(.banned), .members(.unbanned):
      []
    case .sharing(.inviteCreated(let invite)):
      fields(role: invite.role.name, expiresAt: invite.expiresAt, maximumUses: invite.maximumUses)
    case .members(.joined(_, let role, let invite)):
      [("role", .text(role.name)), ("invite", .text(orNull: invite?.description))]
    case .members(.added(_, let role)), .members(.roleChanged(_, let role)): [("role", .text(role.name))]
    case .members(.admissionRepeated(_, .invite(let id))): [("invite", .text(id.description))]
    case .members(.admissionRepeated): []
    case .members(.muted(_, let until)), .members(.silenced(_, let until)): [("until", .text(orNull: until?.rfc3339))]
    case .messages(.sent(_, _, let thread, let content)):
      (thread.map { fields(of: $0) } ?? []) + (content.map { fields(of: $0) } ?? erased)
    case .messages(.edited(_, let place, let edit)):
      fields(of: place) + (edit.map { [("text", .text($0.text))] + fields(of: $0.mentions) } ?? erased)
    case .messages(.deleted(_, let place)), .annotations(.pinned(_, let place)), .annotations(.unpinned(_, let place)),
      .threads(.markerMoved(_, _, let place)):
      fields(of: place)
    case .annotations(.reactionAdded(_, let place, _, let emoji)),
      .annotations(.reactionRemoved(_, let place, _, let emoji)):
      [("emoji", .text(emoji))] + fields(of: place)
    case .reading(.markerMoved(_, _, let ordinal)), .reading(.markedUnread(_, _, let ordinal)):
      [("ordinal", .number(ordinal))]
    case .threads(.followingSet(_, _, let follows)): [("follows", .bool(follows))]
    case .scheduling(.scheduled(_, let message)):
      [("sendAt", .text(message.sendAt.rfc3339)), ("author", .text(message.author.description))]
        + fields(of: message.content)
    case .scheduling(.changed(_, let edit)): fields(of: edit)
    case .scheduling(.cancelled): []
    case .scheduling(.failed(_, let reason)): [("reason", .text(reason.shownName))]
    case .erased: erased
    }
  }

  /// The parts of an edit that change something.
  private static func fields(of edit: ScheduledMessageEdit) -> [(String, JSONValue)] {
    var fields: [(String, JSONValue)] = []
    if let sendAt = edit.sendAt { fields.append(("sendAt", .text(sendAt.rfc3339))) }
    if let text = edit.text { fields.append(("text", .text(text))) }
    if let mentions = edit.mentions { fields += self.fields(of: mentions) }
    return fields
  }

  private static func fields(of creation: RoomCreation) -> [(String, JSONValue)] {
    var fields: [(String, JSONValue)] = [("kind", .text(creation.kind.name)), ("name", .text(creation.name))]
    if let workspace = creation.workspace {
      fields += [("workspace", .text(workspace.description)), ("isPublic", .bool(creation.isPublic))]
    }
    if let topic = creation.topic { fields.append(("topic", .text(topic))) }
    if !creation.participants.isEmpty {
      fields.append(("participants", .list(creation.participants.map { .text($0.description) })))
    }
    return fields
  }

  /// The parts of an edit that change something.
  static func fields(name: String?, topic: String?, picture: PictureEdit?) -> [(String, JSONValue)] {
    var fields: [(String, JSONValue)] = []
    if let name { fields.append(("name", .text(name))) }
    if let topic { fields.append(("topic", .text(topic))) }
    switch picture {
    case nil: break
    case .remove: fields.append(("picture", .null))
    case .set(let media): fields.append(("picture", .text(media.description)))
    }
    return fields
  }

  static func fields(role: String, expiresAt: Timestamp, maximumUses: UInt32?) -> [(String, JSONValue)] {
    [
      ("role", .text(role)), ("expiresAt", .text(expiresAt.rfc3339)),
      ("maximumUses", maximumUses.map { .number(UInt64($0)) } ?? .null),
    ]
  }

  private static func fields(of place: MessagePlace) -> [(String, JSONValue)] {
    let ordinal: [(String, JSONValue)] = [("ordinal", .number(place.ordinal))]
    return place.isInThread ? ordinal + [("thread", .number(place.thread))] : ordinal
  }

  private static func fields(of thread: ThreadPlace) -> [(String, JSONValue)] {
    [("threadRoot", .text(thread.root.message.description)), ("ordinal", .number(thread.ordinal))]
  }

  private static func fields(of content: MessageContent) -> [(String, JSONValue)] {
    var fields: [(String, JSONValue)] = [("text", .text(content.text))]
    guard let details = content.details else { return fields }
    if let replyTo = details.replyTo { fields.append(("replyTo", .text(replyTo.description))) }
    fields += self.fields(of: details.mentions)
    if !details.attachments.isEmpty {
      fields.append(
        (
          "attachments",
          .list(
            details.attachments.map {
              .object(
                [("media", .text($0.media.description)), ("name", .text(orNull: $0.name))]
                  + self.fields(of: $0.content))
            })
        ))
    }
    if let custom = details.custom {
      fields += [("customType", .text(custom.type)), ("customBody", .text(custom.body))]
    }
    return fields
  }

  private static func fields(of mentions: Mentions) -> [(String, JSONValue)] {
    var fields: [(String, JSONValue)] = []
    if !mentions.users.isEmpty {
      fields.append(("mentions", .list(mentions.users.map { .text($0.description) })))
    }
    if mentions.everyone { fields.append(("mentionsEveryone", .bool(true))) }
    return fields
  }

  static func fields(of media: Media) -> [(String, JSONValue)] {
    [
      ("sha256", .text(media.hash.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined())),
      ("contentType", .text(media.contentType)), ("bytes", .number(media.size)),
    ]
  }
}

extension SchedulingFailure {
  fileprivate var shownName: String {
    switch self {
    case .notAMember: "not_a_member"
    case .roomClosed: "room_closed"
    case .silenced: "silenced"
    case .targetGone: "target_gone"
    }
  }
}
