package import ChatDomain
package import ChatPrimitives

/// Who is notified of a message, on which device, with what badge, and why nobody else is. No I/O: the same state gives
/// the same decisions, when the message comes in and whenever somebody asks afterwards.
package enum FanOut {
  /// A decision for each device of each recipient, in their order.
  ///
  /// - Parameters:
  ///   - context: where the message was sent.
  ///   - badge: what the badge of the user's devices says, this message included; asked once for each user
  ///     who is told, and for nobody else.
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

  /// Why a device is not told. Where several reasons hold, the first in this order is given.
  package enum SilenceReason: String, Sendable, CaseIterable {
    /// The message was sent elsewhere and brought in with its original time.
    case imported
    /// The message's text was erased.
    case erased
    /// A device of the sender's.
    case sendersOwn
    /// The user joined after the message.
    case beforeJoin
    /// The user had left before the message.
    case left
    /// The user's account was disabled.
    case accountDisabled
    /// The user had muted the room until a later time.
    case mutedRoom
    /// The message is in a thread that the user does not follow, and does not call the user.
    case notFollowing
    /// The device wants no notifications.
    case notificationsOff
    /// The device wants notifications of mentions only, and this is none.
    case mentionsOnly
    /// No provider can reach the device.
    case noToken
  }
}

// MARK: - What it is decided on

extension FanOut {
  /// The event, as far as it matters.
  package struct SentMessage: Sendable, Hashable {
    package var position: LogPosition
    package var time: Timestamp
    package var room: RoomID
    package var message: MessageID
    package var sender: UserID
    /// Set for an import.
    package var originalTime: Timestamp?
    /// nil when it was erased.
    package var text: String?
    /// The root of the thread that it is in; nil for the room's own timeline.
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

    /// nil for every event but a sent message.
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

    /// Why nobody at all is told.
    package var silence: SilenceReason? {
      if originalTime != nil { return .imported }
      return text == nil ? .erased : nil
    }

    /// Whether it mentions a member: by name, with everyone, or because nobody else is spoken to.
    func isMention(of user: UserID, in context: RoomContext) -> Bool {
      context.isDirect || mentions.everyone || mentions.users.contains(user)
    }
  }

  /// Where a message was sent, as it was then.
  package struct RoomContext: Sendable, Hashable {
    /// A direct room, where every message counts as a mention.
    package var isDirect: Bool
    /// Of a message in a thread: who hears of that thread.
    package var followers: Set<UserID>

    package init(isDirect: Bool = false, followers: Set<UserID> = []) {
      self.isDirect = isDirect
      self.followers = followers
    }
  }

  /// A user with devices who has, had or will have to do with the room.
  package struct Recipient: Sendable, Hashable {
    package var user: UserID
    package var membership: Membership
    package var isDisabled: Bool
    package var devices: [Device]

    package init(user: UserID, membership: Membership, isDisabled: Bool = false, devices: [Device]) {
      self.user = user
      self.membership = membership
      self.isDisabled = isDisabled
      self.devices = devices
    }

    fileprivate func silence(about message: SentMessage, in context: RoomContext, isMentioned: Bool) -> SilenceReason? {
      if user == message.sender { return .sendersOwn }
      switch membership {
      case .joinsLater: return .beforeJoin
      case .left: return .left
      case .member(let mutedUntil):
        if isDisabled { return .accountDisabled }
        if let mutedUntil, mutedUntil > message.time { return .mutedRoom }
        guard message.thread != nil, !isMentioned, !context.followers.contains(user) else { return nil }
        return .notFollowing
      }
    }
  }

  /// How the user stood to the room when the message was sent.
  package enum Membership: Sendable, Hashable {
    case member(mutedUntil: Timestamp?)
    case left(at: LogPosition)
    case joinsLater
  }

  package struct Device: Sendable, Hashable {
    package var id: DeviceID
    /// How a provider reaches it; nil when none can.
    package var token: PushToken?
    /// Of what it wants to be told.
    package var level: NotificationLevel

    package init(id: DeviceID, token: PushToken?, level: NotificationLevel = .all) {
      self.id = id
      self.token = token
      self.level = level
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
