import ChatPrimitives

/// How many bytes of the log an event is charged for. This depends on the event alone, so the writer need not encode
/// it, and the read model computes the same sum. It is never less than the record's size before compression
/// (`ChargedBytesTests`).
extension ChatEvent {
  /// Covers everything in a record but texts and lists: the envelope, IDs, times, hashes and numbers.
  package static let chargedBytesOfRecord: UInt64 = 256
  /// For each entry of a list, without its texts.
  private static let chargedBytesOfEntry: UInt64 = 96

  package var chargedBytes: UInt64 {
    let content: Int
    switch self {
    case .user(_, let event): content = event.textBytes
    case .room(_, let event): content = event.textBytes
    case .workspace(_, let event): content = event.textBytes
    case .server: content = 0
    }
    return Self.chargedBytesOfRecord + UInt64(clamping: content)
  }

  fileprivate static func entries(_ count: Int) -> Int { count * Int(chargedBytesOfEntry) }
}

extension UserEvent {
  fileprivate var textBytes: Int {
    switch self {
    case .registered(let registration):
      registration.nickname.utf8.count + bytes(registration.email) + bytes(registration.externalID)
    case .profileChanged(let edit): bytes(edit.nickname)
    case .identityLinked(let identity): identity.textBytes
    case .identityUnlinked(let identity, _): identity?.textBytes ?? 0
    case .emailSet(let email): email.utf8.count
    case .deviceRegistered(_, let description), .deviceUpdated(_, let description): description.textBytes
    case .pushTokenInvalidated(_, let token), .pushTokenMoved(_, let token): token.token.utf8.count
    case .mediaUploaded(_, let media, let name): media.contentType.utf8.count + bytes(name)
    case .credentialSet, .disabled, .enabled, .preferencesSet, .sessionStarted, .sessionRefreshed, .sessionEnded,
      .deviceRemoved, .erased:
      0
    }
  }
}

extension RoomEvent {
  fileprivate var textBytes: Int {
    switch self {
    case .created(let creation):
      creation.name.utf8.count + bytes(creation.topic) + ChatEvent.entries(creation.participants.count)
    case .edited(let edit): bytes(edit.name) + bytes(edit.topic)
    case .messageSent(_, _, _, let content): content?.textBytes ?? 0
    case .messageEdited(_, _, let edit): edit.map { $0.text.utf8.count + $0.mentions.entryBytes } ?? 0
    case .reactionAdded(_, _, _, let emoji), .reactionRemoved(_, _, _, let emoji): emoji.utf8.count
    case .messageScheduled(_, let message): message.content.textBytes
    case .scheduledMessageChanged(_, let edit): bytes(edit.text) + (edit.mentions?.entryBytes ?? 0)
    case .archived, .restored, .deleted, .inviteCreated, .inviteRevoked, .memberJoined, .memberAdded,
      .admissionRepeated, .memberLeft, .memberRemoved, .roleChanged, .memberBanned, .memberUnbanned, .memberSilenced,
      .muted, .messageDeleted, .messagePinned, .messageUnpinned, .readMarkerMoved, .threadMarkerMoved, .markedUnread,
      .threadFollowingSet, .scheduledMessageCancelled, .scheduledMessageFailed, .erased:
      0
    }
  }
}

extension WorkspaceEvent {
  fileprivate var textBytes: Int {
    switch self {
    case .created(let creation): creation.name.utf8.count
    case .edited(let edit): bytes(edit.name) + bytes(edit.topic)
    case .deleted, .inviteCreated, .inviteRevoked, .memberJoined, .memberLeft, .memberRemoved, .admissionRepeated,
      .memberInvited, .invitationWithdrawn, .roleChanged, .erased:
      0
    }
  }
}

extension MessageContent {
  fileprivate var textBytes: Int {
    guard let details else { return text.utf8.count }
    var count = text.utf8.count + details.mentions.entryBytes + ChatEvent.entries(details.attachments.count)
    for attachment in details.attachments {
      count += attachment.content.contentType.utf8.count + bytes(attachment.name)
    }
    if let custom = details.custom { count += custom.type.utf8.count + custom.body.utf8.count }
    return count
  }
}

extension Mentions {
  fileprivate var entryBytes: Int { ChatEvent.entries(users.count) }
}

extension Identity {
  fileprivate var textBytes: Int { issuer.utf8.count + subject.utf8.count }
}

extension DeviceDescription {
  fileprivate var textBytes: Int {
    bytes(name) + bytes(type) + bytes(osVersion) + ChatEvent.entries(tokens.count)
      + tokens.reduce(0) { $0 + $1.token.utf8.count }
  }
}

private func bytes(_ text: String?) -> Int { text?.utf8.count ?? 0 }
