package import ChatPrimitives

/// A user's complaint to the moderators of a room about a message or another member.
package struct Report: Sendable, Hashable {
  package var subject: ReportSubject
  package var reason: ReportReason
  /// May be empty.
  package var comment: String

  package init(subject: ReportSubject, reason: ReportReason, comment: String) {
    self.subject = subject
    self.reason = reason
    self.comment = comment
  }
}

/// What a report is about.
package enum ReportSubject: Sendable, Hashable {
  case message(ReportedMessage)
  case user(UserID)

  /// The reported user, or the author of the reported message.
  package var user: UserID {
    switch self {
    case .message(let message): message.author
    case .user(let user): user
    }
  }

  package var message: ReportedMessage? {
    switch self {
    case .message(let message): message
    case .user: nil
    }
  }
}

/// A message as it was when the request to report it was looked up. Later edits, its deletion and the erasure of its
/// author's events do not change it.
package struct ReportedMessage: Sendable, Hashable {
  package var id: MessageID
  package var author: UserID
  /// The time that clients see.
  package var sentAt: Timestamp
  /// Nil if the message had been deleted.
  package var content: MessageContent?

  package init(id: MessageID, author: UserID, sentAt: Timestamp, content: MessageContent?) {
    self.id = id
    self.author = author
    self.sentAt = sentAt
    self.content = content
  }
}

/// The raw values are in the log; the names are in the API.
package enum ReportReason: UInt8, NamedValue {
  case spam = 1
  case harassment = 2
  case hate = 3
  case violence = 4
  case sexualContent = 5
  case childSafety = 6
  case selfHarm = 7
  case impersonation = 8
  case illegal = 9
  case other = 10

  package var name: String {
    switch self {
    case .spam: "spam"
    case .harassment: "harassment"
    case .hate: "hate"
    case .violence: "violence"
    case .sexualContent: "sexual_content"
    case .childSafety: "child_safety"
    case .selfHarm: "self_harm"
    case .impersonation: "impersonation"
    case .illegal: "illegal"
    case .other: "other"
    }
  }
}

/// How moderators resolved a report.
package struct ReportResolution: Sendable, Hashable {
  package var outcome: ReportOutcome
  /// For other moderators. May be empty.
  package var note: String

  package init(outcome: ReportOutcome, note: String) {
    self.outcome = outcome
    self.note = note
  }
}

/// What moderators did about a report. The raw values are in the log; the names are in the API.
package enum ReportOutcome: UInt8, NamedValue {
  case noAction = 1
  case messageDeleted = 2
  case userWarned = 3
  case userSilenced = 4
  case userRemoved = 5
  case other = 6

  package var name: String {
    switch self {
    case .noAction: "no_action"
    case .messageDeleted: "message_deleted"
    case .userWarned: "user_warned"
    case .userSilenced: "user_silenced"
    case .userRemoved: "user_removed"
    case .other: "other"
    }
  }
}
