package import ChatDomain
package import ChatPrimitives

extension FanOut {
  /// A user whom an event may concern, with the user's devices. All values are those at the event.
  package struct Recipient: Sendable, Hashable {
    package var user: UserID
    /// The membership in the event's room; nil for an event of a workspace.
    package var membership: Membership?
    package var isDisabled: Bool
    /// Whether the user had blocked the user who caused the event.
    package var hasBlockedActor: Bool
    package var preferences: UserPreferences
    package var devices: [Device]

    package init(
      user: UserID, membership: Membership?, isDisabled: Bool = false, hasBlockedActor: Bool = false,
      preferences: UserPreferences = UserPreferences(), devices: [Device]
    ) {
      self.user = user
      self.membership = membership
      self.isDisabled = isDisabled
      self.hasBlockedActor = hasBlockedActor
      self.preferences = preferences
      self.devices = devices
    }
  }

  package enum Membership: Sendable, Hashable {
    case member(Member)
    case left(at: LogPosition)
    case joinsLater
  }

  package struct Member: Sendable, Hashable {
    package var mutedUntil: Timestamp?
    /// Which notifications of the room the user wants; nil for those of the preferences.
    package var level: NotificationLevel?
    /// The ordinal up to which nothing in the room's timeline is unread: it was read, or was sent before the user
    /// joined.
    package var readThrough: UInt64

    package init(mutedUntil: Timestamp? = nil, level: NotificationLevel? = nil, readThrough: UInt64 = 0) {
      self.mutedUntil = mutedUntil
      self.level = level
      self.readThrough = readThrough
    }
  }

  package struct Device: Sendable, Hashable {
    package var id: DeviceID
    /// The token for reaching it through a provider; nil if there is none.
    package var token: PushToken?
    /// Which notifications the device wants.
    package var level: NotificationLevel
    /// Where an APNs token is valid; nil for the server's default.
    package var apnsEnvironment: APNsEnvironment?
    /// The language of its notifications (BCP 47).
    package var language: String?
    /// Whether it wants silent notifications of changes in rooms (`roomChange`).
    package var roomChanges: Bool

    /// The provider that reaches it; nil if it has no token.
    package var provider: ProviderName? { token.map { ProviderName($0.provider, apnsEnvironment) } }

    package init(
      id: DeviceID, token: PushToken?, level: NotificationLevel = .all, apnsEnvironment: APNsEnvironment? = nil,
      language: String? = nil, roomChanges: Bool = false
    ) {
      self.id = id
      self.token = token
      self.level = level
      self.apnsEnvironment = apnsEnvironment
      self.language = language
      self.roomChanges = roomChanges
    }
  }

  /// The state of the room when the event happened, as far as it is the same for all recipients.
  package struct RoomContext: Sendable, Hashable {
    /// Whether the room is direct, so that every message counts as a mention.
    package var isDirect: Bool
    /// Whether the message was scheduled.
    package var wasScheduled: Bool
    /// The followers of the thread, if the event concerns a message in one.
    package var followers: Set<UserID>
    /// The mentions of the deleted message, if it was in a thread.
    package var deletedMentions: Mentions
    /// Whether the room is crowded, and an earlier frequent event of the same period has led to `roomChange` there. It is
    /// only looked up for a frequent event (`PushEvent.isFrequent`).
    package var leavesOutChanges: Bool

    /// In a room with more devices that have `roomChanges`, only the first frequent event of each period leads to
    /// `roomChange`. Otherwise a thousand reactions in a room with thousands of devices would be millions of notifications,
    /// almost all of them replaced by the next one before they are sent, and alerts would wait until the outbox has decided
    /// on all of them.
    package static let crowdedDevices = 500
    /// The length of such a period, in milliseconds. Periods are counted from 1970, so that the decision on an event depends
    /// only on the events of its own period.
    package static let crowdedPeriodMilliseconds: Int64 = 60_000

    package init(
      isDirect: Bool = false, wasScheduled: Bool = false, followers: Set<UserID> = [],
      deletedMentions: Mentions = Mentions(), leavesOutChanges: Bool = false
    ) {
      self.isDirect = isDirect
      self.wasScheduled = wasScheduled
      self.followers = followers
      self.deletedMentions = deletedMentions
      self.leavesOutChanges = leavesOutChanges
    }
  }
}
