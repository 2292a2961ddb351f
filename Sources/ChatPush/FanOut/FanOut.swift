package import ChatDomain
package import ChatPrimitives

/// Decides who is notified of a message, on which device and with what badge, and why the others are not. Does no I/O:
/// the same state gives the same decisions, when the message is sent and whenever someone asks later.
package enum FanOut {
  /// The decisions for all devices of all recipients, in their order.
  ///
  /// - Parameters:
  ///   - context: where the message was sent.
  ///   - badge: the badge of the user's devices, including this message. Called once for each user who is notified, and
  ///     for no others.
  package static func decisions(
    on message: SentMessage, in context: RoomContext = RoomContext(), for recipients: [Recipient],
    badge: (UserID) throws -> UInt64
  ) rethrows -> [DeviceDecision] {
    var decisions: [DeviceDecision] = []
    for recipient in recipients {
      let isMentioned = message.isMention(of: recipient.user, in: context)
      let silence = message.silence ?? recipient.silence(about: message, in: context, isMentioned: isMentioned)
      var count: UInt64?
      for device in recipient.devices {
        let decision: Decision
        if let reason = silence ?? device.silence(isMentioned: isMentioned) {
          decision = .silent(reason)
        } else {
          let known = try count ?? badge(recipient.user)
          count = known
          decision = .notify(badge: known)
        }
        decisions.append(DeviceDecision(user: recipient.user, device: device.id, decision: decision))
      }
    }
    return decisions
  }
}

// MARK: - Decision

extension FanOut {
  package enum Decision: Sendable, Hashable {
    case notify(badge: UInt64)
    case silent(SilenceReason)
  }

  package struct DeviceDecision: Sendable, Hashable {
    package let user: UserID
    package let device: DeviceID
    package let decision: Decision

    package init(user: UserID, device: DeviceID, decision: Decision) {
      self.user = user
      self.device = device
      self.decision = decision
    }
  }

  /// Why a device is not notified. If several reasons apply, the first in this order is given.
  package enum SilenceReason: String, Sendable, CaseIterable {
    /// The message was imported from another system with its original time.
    case imported
    /// The message's text was erased.
    case erased
    /// The device is the sender's.
    case sendersOwn
    /// The user joined after the message.
    case beforeJoin
    /// The user had left before the message.
    case left
    /// The user had blocked the sender. Only operators can see this reason.
    case blocked
    /// The user's account was disabled.
    case accountDisabled
    /// The user had muted the room until a later time.
    case mutedRoom
    /// The message is in a thread that the user does not follow, and does not mention the user.
    case notFollowing
    /// The device wants no notifications.
    case notificationsOff
    /// The device only wants notifications of mentions, and this is none.
    case mentionsOnly
    /// No provider can reach the device.
    case noToken
  }
}

// MARK: - Input

extension FanOut {
  /// The relevant parts of the event.
  package struct SentMessage: Sendable, Hashable {
    package var position: LogPosition
    package var time: Timestamp
    package var room: RoomID
    package var message: MessageID
    package var sender: UserID
    /// Set for an imported message.
    package var originalTime: Timestamp?
    /// Nil if it was erased.
    package var text: String?
    /// The root of the message's thread; nil in the room's own timeline.
    package var thread: ThreadRoot?
    package var mentions: Mentions

    package init(
      position: LogPosition, time: Timestamp, room: RoomID, message: MessageID, sender: UserID,
      originalTime: Timestamp?, text: String?, thread: ThreadRoot? = nil, mentions: Mentions = Mentions()
    ) {
      self.position = position
      self.time = time
      self.room = room
      self.message = message
      self.sender = sender
      self.originalTime = originalTime
      self.text = text
      self.thread = thread
      self.mentions = mentions
    }

    /// Nil if the event is not a sent message.
    package init?(_ recorded: RecordedEvent) {
      guard case .room(let room, .messages(.sent(let message, let author, let thread, let content))) = recorded.event
      else {
        return nil
      }
      self.init(
        position: recorded.position, time: recorded.stamp.time, room: room, message: message, sender: author,
        originalTime: recorded.originalTime, text: content?.text, thread: thread?.root,
        mentions: content?.details?.mentions ?? Mentions())
    }

    /// Why nobody is notified, if this is the same for all devices.
    package var silence: SilenceReason? {
      if originalTime != nil { return .imported }
      return text == nil ? .erased : nil
    }

    /// Whether it mentions a member: by name, with everyone, or because the room is direct.
    func isMention(of user: UserID, in context: RoomContext) -> Bool {
      context.isDirect || mentions.everyone || mentions.users.contains(user)
    }
  }

  /// The relevant state of the room when the message was sent.
  package struct RoomContext: Sendable, Hashable {
    /// Whether the room is direct, so that every message counts as a mention.
    package var isDirect: Bool
    /// The followers of the thread, if the message is in one.
    package var followers: Set<UserID>

    package init(isDirect: Bool = false, followers: Set<UserID> = []) {
      self.isDirect = isDirect
      self.followers = followers
    }
  }

  /// A user who is, was or later becomes a member of the room, with their devices.
  package struct Recipient: Sendable, Hashable {
    package var user: UserID
    package var membership: Membership
    package var isDisabled: Bool
    /// Whether the user had blocked the sender.
    package var hasBlockedSender: Bool
    package var devices: [Device]

    package init(
      user: UserID, membership: Membership, isDisabled: Bool = false, hasBlockedSender: Bool = false,
      devices: [Device]
    ) {
      self.user = user
      self.membership = membership
      self.isDisabled = isDisabled
      self.hasBlockedSender = hasBlockedSender
      self.devices = devices
    }

    fileprivate func silence(about message: SentMessage, in context: RoomContext, isMentioned: Bool) -> SilenceReason? {
      if user == message.sender { return .sendersOwn }
      switch membership {
      case .joinsLater: return .beforeJoin
      case .left: return .left
      case .member(let mutedUntil):
        if hasBlockedSender { return .blocked }
        if isDisabled { return .accountDisabled }
        if let mutedUntil, mutedUntil > message.time { return .mutedRoom }
        guard message.thread != nil, !isMentioned, !context.followers.contains(user) else { return nil }
        return .notFollowing
      }
    }
  }

  /// The user's membership in the room when the message was sent.
  package enum Membership: Sendable, Hashable {
    case member(mutedUntil: Timestamp?)
    case left(at: LogPosition)
    case joinsLater
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
    /// Whether it wants silent notifications of what changes in rooms without a message.
    package var roomChanges: Bool

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

    fileprivate func silence(isMentioned: Bool) -> SilenceReason? {
      switch level {
      case .none: .notificationsOff
      case .mentions where !isMentioned: .mentionsOnly
      case .mentions, .all: token == nil ? .noToken : nil
      }
    }
  }
}
