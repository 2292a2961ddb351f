package import ChatPrimitives

/// How much a user may use in one day. Nil means no limit.
package struct Quotas: Sendable, Hashable {
  package var messagesPerDay: UInt64?
  package var mediaBytesPerDay: UInt64?
  package var roomsPerDay: UInt64?
  package var workspacesPerDay: UInt64?
  package var invitesPerDay: UInt64?
  package var scheduledBytesPerDay: UInt64?
  package var eventsPerDay: UInt64?
  package var bytesPerDay: UInt64?
  /// Whether what services do in a user's name counts too.
  package var countsServices = false

  /// No limits except those that are given.
  package init(
    messagesPerDay: UInt64? = nil, mediaBytesPerDay: UInt64? = nil, roomsPerDay: UInt64? = nil,
    workspacesPerDay: UInt64? = nil, invitesPerDay: UInt64? = nil, scheduledBytesPerDay: UInt64? = nil,
    eventsPerDay: UInt64? = nil, bytesPerDay: UInt64? = nil
  ) {
    self.messagesPerDay = messagesPerDay
    self.mediaBytesPerDay = mediaBytesPerDay
    self.roomsPerDay = roomsPerDay
    self.workspacesPerDay = workspacesPerDay
    self.invitesPerDay = invitesPerDay
    self.scheduledBytesPerDay = scheduledBytesPerDay
    self.eventsPerDay = eventsPerDay
    self.bytesPerDay = bytesPerDay
  }

  /// The defaults: more than a busy person needs, and little enough that one account costs a server little.
  /// `docs/decisions/0021-quotas.md` has the reasons.
  package static let standard = Quotas(
    mediaBytesPerDay: 1024 * 1024 * 1024, roomsPerDay: 200, workspacesPerDay: 20, invitesPerDay: 1_000,
    scheduledBytesPerDay: 4 * 1024 * 1024, eventsPerDay: 20_000, bytesPerDay: 32 * 1024 * 1024)

  /// Upkeep may use the quotas of events and bytes up to this many times.
  package static let upkeepFactor: UInt64 = 2

  package var areOff: Bool { self == Quotas() }

  /// Only what a command uses is checked: a user who has no media bytes left may still send a text.
  func allow(_ wanted: Usage, for purpose: QuotaPurpose, after used: Usage) -> Bool {
    let factor: UInt64
    switch purpose {
    case .endingSessions: return true
    case .upkeep: factor = Self.upkeepFactor
    case .adding: factor = 1
    }
    return Self.fits(wanted.messages, after: used.messages, under: messagesPerDay)
      && Self.fits(wanted.mediaBytes, after: used.mediaBytes, under: mediaBytesPerDay)
      && Self.fits(wanted.rooms, after: used.rooms, under: roomsPerDay)
      && Self.fits(wanted.workspaces, after: used.workspaces, under: workspacesPerDay)
      && Self.fits(wanted.invites, after: used.invites, under: invitesPerDay)
      && Self.fits(wanted.scheduledBytes, after: used.scheduledBytes, under: scheduledBytesPerDay)
      && Self.fits(wanted.events, after: used.events, under: eventsPerDay, times: factor)
      && Self.fits(wanted.bytes, after: used.bytes, under: bytesPerDay, times: factor)
  }

  private static func fits(
    _ wanted: UInt64, after used: UInt64, under limit: UInt64?, times factor: UInt64 = 1
  ) -> Bool {
    guard let limit, wanted > 0 else { return true }
    let (most, isUnlimited) = limit.multipliedReportingOverflow(by: factor)
    let (sum, overflow) = used.addingReportingOverflow(wanted)
    return !overflow && (isUnlimited || sum <= most)
  }
}

/// How quotas treat the events of one command. A user whose quota is used up must still be able to leave, delete,
/// moderate, log in and end a stolen session.
package enum QuotaPurpose: Sendable, Hashable {
  case adding
  /// Ends something that was counted when it began, moderates, or keeps the account usable.
  case upkeep
  /// Never refused, because users must always be able to end a stolen session, and to delete their account.
  case endingSessions

  /// - Parameter key: of the command. A command that found no session to end records one that never was under its key
  ///   (`UserDecider.absentSession`). Nothing but the quota limits how many of these there are.
  package init(of events: [ChatEvent], under key: CommandID?) {
    if case .user(_, .sessions(.ended(let session, _)))? = events.first,
      session != key.map({ UserDecider.absentSession(for: $0) }),
      events.allSatisfy({ $0.endsSession || $0.takesPushTokens })
    {
      self = .endingSessions
    } else if case .user(_, .deletion)? = events.last {
      self = .endingSessions
    } else {
      self = events.allSatisfy(\.isUpkeep) ? .upkeep : .adding
    }
  }
}

extension ChatEvent {
  fileprivate var endsSession: Bool {
    if case .user(_, .sessions(.ended)) = self { true } else { false }
  }

  /// Whether a device loses its push tokens, as it does with its last session.
  fileprivate var takesPushTokens: Bool {
    if case .user(_, .devices(.updated(_, let description))) = self { description.tokens.isEmpty } else { false }
  }

  fileprivate var isUpkeep: Bool {
    switch self {
    case .user(_, let event): event.isUpkeep
    case .room(_, let event): event.isUpkeep
    case .workspace(_, let event): event.isUpkeep
    case .server: false
    }
  }
}
