import ChatDomain
import ChatPrimitives
import Foundation
import SwiftProtobuf

extension RoomEvent.Annotations: KindFamily {
  static let kinds = [reactionAddedKind, reactionRemovedKind, pinnedKind, unpinnedKind]

  var kind: Kind<Self> {
    switch self {
    case .reactionAdded: Self.reactionAddedKind
    case .reactionRemoved: Self.reactionRemovedKind
    case .pinned: Self.pinnedKind
    case .unpinned: Self.unpinnedKind
    }
  }

  private static let reactionAddedKind = Kind<Self>(
    133, "reaction.added", .disclosed,
    write: { event, output in
      guard case .reactionAdded(let message, let location, _, let emoji, let author) = event else { return }
      var shown: ShownFields = [("emoji", .text(emoji))] + .location(location)
      if let author { shown.append(("messageAuthor", .text(author.description))) }
      output.write(subject: message.uuid, Hansard_V1_ReactionChanged.with(emoji, location, author), shows: shown)
    },
    read: { (body: Hansard_V1_ReactionChanged, reader) in
      .reactionAdded(
        try reader.subject(MessageID.self), at: body.location, by: try reader.actor(), emoji: body.emoji,
        messageAuthor: try reader.id(body.messageAuthor))
    })

  private static let reactionRemovedKind = Kind<Self>(
    134, "reaction.removed", .disclosed,
    write: { event, output in
      guard case .reactionRemoved(let message, let location, let user, let emoji) = event else { return }
      output.write(
        subject: message.uuid, Hansard_V1_ReactionChanged.with(emoji, location, emoji.isEmpty ? user : nil),
        shows: [("emoji", .text(emoji))] + .location(location))
    },
    read: { (body: Hansard_V1_ReactionChanged, reader) in
      .reactionRemoved(
        try reader.subject(MessageID.self), at: body.location,
        by: try reader.id(body.messageAuthor) ?? reader.actor(), emoji: body.emoji)
    })

  private static let pinnedKind = Kind<Self>(
    135, "message.pinned", .disclosed,
    write: { event, output in
      guard case .pinned(let message, let location) = event else { return }
      output.write(subject: message.uuid, Hansard_V1_PinChanged.with(location), shows: .location(location))
    },
    read: { (body: Hansard_V1_PinChanged, reader) in .pinned(try reader.subject(MessageID.self), at: body.location) })

  private static let unpinnedKind = Kind<Self>(
    136, "message.unpinned", .disclosed,
    write: { event, output in
      guard case .unpinned(let message, let location) = event else { return }
      output.write(subject: message.uuid, Hansard_V1_PinChanged.with(location), shows: .location(location))
    },
    read: { (body: Hansard_V1_PinChanged, reader) in .unpinned(try reader.subject(MessageID.self), at: body.location) })
}

extension Hansard_V1_ReactionChanged {
  fileprivate static func with(_ emoji: String, _ location: MessageLocation, _ author: UserID? = nil) -> Self {
    .with {
      $0.emoji = emoji
      $0.ordinal = location.ordinal
      $0.thread = location.thread
      if let author { $0.messageAuthor = Data(author.uuid.bytes) }
    }
  }

  fileprivate var location: MessageLocation { MessageLocation(thread: thread, ordinal: ordinal) }
}

extension Hansard_V1_PinChanged {
  fileprivate static func with(_ location: MessageLocation) -> Self {
    .with {
      $0.ordinal = location.ordinal
      $0.thread = location.thread
    }
  }

  fileprivate var location: MessageLocation { MessageLocation(thread: thread, ordinal: ordinal) }
}
