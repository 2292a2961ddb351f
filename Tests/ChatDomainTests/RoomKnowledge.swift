import ChatDomain
import ChatPrimitives

/// What specs say is known of messages. All of them are in the room of the spec.
extension Known {
  static func messages(_ messages: [MessageID: KnownMessage]) -> Known {
    var known = Known()
    for (id, message) in messages { known.messages[.of(id)] = message }
    return known
  }

  static func scheduled(_ scheduled: [MessageID: KnownScheduledMessage]) -> Known {
    var known = Known()
    for (id, message) in scheduled { known.scheduled[.of(id)] = message }
    return known
  }
}

extension KnownReport {
  /// A report of a user, filed at this position and last changed at `revised`.
  static func of(
    _ user: UserID? = dave, by reporter: UserID = carol, at position: UInt64, revised: UInt64? = nil,
    isOpen: Bool = true, comment: String = ""
  ) -> KnownReport {
    let command = RoomCommand.report(user: user ?? dave, comment: comment)
    return KnownReport(
      reporter: reporter, reportedUser: user, filed: .at(position),
      fingerprint: user == nil ? nil : command.fingerprint(by: reporter), isOpen: isOpen,
      revised: .at(revised ?? position))
  }
}

extension ReportKey {
  static func of(_ id: ReportID) -> ReportKey { ReportKey(room: subject(), report: id) }
}

extension MessageKey {
  static func of(_ id: MessageID) -> MessageKey { MessageKey(room: subject(), message: id) }
}

/// These change nothing if they are given nil.
extension Given where D == RoomDecider {
  func knowing(_ id: MessageID, _ message: KnownMessage?) -> Given {
    changing { if let message { $0.messages[.of(id)] = message } }
  }

  func knowingScheduled(_ id: MessageID, _ scheduled: KnownScheduledMessage?) -> Given {
    changing { if let scheduled { $0.scheduled[.of(id)] = scheduled } }
  }

  func knowing(reactions: ReactionCounts?, emoji: String, of user: UserID, on id: MessageID) -> Given {
    changing { known in
      let key = ReactionKey(message: .of(id), user: user, emoji: emoji)
      if let reactions { known.reactions[key] = reactions }
    }
  }

  func knowing(_ id: ReportID, _ report: KnownReport?) -> Given {
    changing { if let report { $0.reports[.of(id)] = report } }
  }

  func knowingContent(_ id: MessageID, _ content: MessageContent) -> Given {
    changing { $0.contents[.of(id)] = content }
  }

  func knowing(media: [MediaID: Media]?) -> Given {
    changing { known in
      if let media { known.media.merge(media) { $1 } }
    }
  }

  private func changing(_ change: (inout Known) -> Void) -> Given {
    var copy = self
    change(&copy.known)
    return copy
  }
}
