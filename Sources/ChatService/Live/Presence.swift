package import ChatPrimitives

/// Whether a user is online. The raw values are part of the API.
package enum Presence: String, Sendable, CaseIterable {
  /// A stream of the user says so.
  case online
  /// All streams of the user say so.
  case away
  /// The user has no stream, or does not show the presence.
  case offline
}

/// A user types in a room, or has stopped.
package struct TypingNotice: Sendable, Hashable {
  package var room: RoomID
  package var user: UserID
  /// When the typing ends unless the user goes on. Nil if the user has stopped.
  package var until: Timestamp?

  package init(room: RoomID, user: UserID, until: Timestamp?) {
    self.room = room
    self.user = user
    self.until = until
  }
}

package struct PresenceNotice: Sendable, Hashable {
  package var user: UserID
  package var presence: Presence

  package init(user: UserID, presence: Presence) {
    self.user = user
    self.presence = presence
  }
}

/// What streams show besides the changes in the log. A notice that is lost is not repeated.
package enum LiveNotice: Sendable, Hashable {
  case typing(TypingNotice)
  case presence(PresenceNotice)
}

/// The type of a notice. The raw values are part of the API.
package enum LiveNoticeType: String, Sendable, CaseIterable {
  case typing
  case presence
}

extension LiveNotice {
  var type: LiveNoticeType {
    switch self {
    case .typing: .typing
    case .presence: .presence
    }
  }
}
