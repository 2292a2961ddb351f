import ChatDomain
package import ChatPrimitives

/// Decides which devices are notified of an event, with which kind, and why the others are not. It does no
/// I/O, so the same state always gives the same decisions: when the event happens, and when an operator asks later.
package enum FanOut {
  /// The decisions for all devices of all recipients, in their order.
  ///
  /// - Parameter context: where the event happened.
  package static func decisions(
    on event: PushEvent, in context: RoomContext = RoomContext(), for recipients: [Recipient]
  ) -> [DeviceDecision] {
    var quietTime = QuietTime(of: event.time)
    var decisions: [DeviceDecision] = []
    for recipient in recipients {
      let kinds = event.kinds(for: recipient, in: context)
      for device in recipient.devices {
        let decision: Decision
        switch choice(among: kinds, for: device, of: recipient, event, context) {
        case .skip(let reason): decision = .skip(reason)
        case .notify(let kind):
          decision = .notify(
            Delivery(
              kind: kind, isQuiet: kind.alert != nil && quietTime.isIn(recipient.preferences.quietHours),
              showsPreview: recipient.preferences.showsPreviews))
        }
        decisions.append(
          DeviceDecision(user: recipient.user, device: device.id, provider: device.provider, decision: decision))
      }
    }
    return decisions
  }

  private enum Choice {
    case notify(PushKind)
    case skip(SkipReason)
  }

  /// The first kind that the device may get. If it may get none, the reason for the first kind.
  private static func choice(
    among kinds: [PushKind], for device: Device, of recipient: Recipient, _ event: PushEvent, _ context: RoomContext
  ) -> Choice {
    var first: SkipReason?
    for kind in kinds {
      guard let reason = skipReason(for: kind, on: device, of: recipient, event, context) else { return .notify(kind) }
      first = first ?? reason
    }
    return .skip(first ?? .noToken)
  }

  /// The first reason that applies; nil if the device is notified.
  private static func skipReason(
    for kind: PushKind, on device: Device, of recipient: Recipient, _ event: PushEvent, _ context: RoomContext
  ) -> SkipReason? {
    if let reason = event.skipReason { return reason }
    if device.id == event.device, recipient.user == event.actor { return .ownDevice }
    if let reason = recipient.skipReason(for: kind, event, context) { return reason }
    if kind.alert != nil {
      switch recipient.rules.levelRule(for: kind, on: device.level) {
      case .notificationsOff: return .notificationsOff
      case .mentionsOnly: return .mentionsOnly
      case nil: break
      }
    }
    if kind == .roomChange, !device.roomChanges { return .roomChangesOff }
    if kind == .roomChange, event.isFrequent, context.leavesOutChanges { return .crowdedRoom }
    return device.token == nil ? .noToken : nil
  }
}

// MARK: - Decision

extension FanOut {
  package enum Decision: Sendable, Hashable {
    case notify(Delivery)
    case skip(SkipReason)
  }

  package struct Delivery: Sendable, Hashable {
    package var kind: PushKind
    /// Whether it arrives without an alert, because of the user's quiet hours.
    package var isQuiet: Bool
    /// Whether it may contain texts and names.
    package var showsPreview: Bool

    package init(kind: PushKind, isQuiet: Bool = false, showsPreview: Bool = true) {
      self.kind = kind
      self.isQuiet = isQuiet
      self.showsPreview = showsPreview
    }
  }

  package struct DeviceDecision: Sendable, Hashable {
    package let user: UserID
    package let device: DeviceID
    /// The provider that reaches the device; nil if it has no token.
    package let provider: ProviderName?
    package let decision: Decision

    var isNotified: Bool { if case .notify = decision { true } else { false } }

    package init(user: UserID, device: DeviceID, provider: ProviderName? = nil, decision: Decision) {
      self.user = user
      self.device = device
      self.provider = provider
      self.decision = decision
    }
  }

  /// Why a device is not notified. If several reasons apply, the first in this order is given.
  package enum SkipReason: String, Sendable, CaseIterable {
    /// The event was imported from another system with its original time.
    case imported
    /// The message's text was erased.
    case erased
    /// The device caused the event.
    case ownDevice
    /// The user joined after the event.
    case beforeJoin
    /// The user had left before the event.
    case left
    /// The user had blocked the user who caused the event. Only operators can see this reason.
    case blocked
    /// The message is an app's own event that was sent as silent.
    case silentEvent
    /// The user's account was disabled.
    case accountDisabled
    /// The user had muted the room until a later time.
    case mutedRoom
    /// The message is in a thread that the user does not follow, and does not mention the user.
    case notFollowing
    /// The user switched off notifications of this kind.
    case kindMuted
    /// A message was deleted that the user had already read.
    case nothingToClear
    /// The level is `none`, in the room or on the device.
    case notificationsOff
    /// The level is `mentions`, in the room or on the device, and the event does not concern the user personally.
    case mentionsOnly
    /// The device did not ask for changes of rooms.
    case roomChangesOff
    /// The event is one of those that can come in large numbers, too many devices in the room have `roomChanges`, and it is
    /// not the first such event in its minute.
    case crowdedRoom
    /// No provider can reach the device.
    case noToken
  }
}

// MARK: - Rules

extension PushEvent {
  /// Why nobody is notified, if this is the same for all devices.
  package var skipReason: FanOut.SkipReason? {
    if originalTime != nil { return .imported }
    if case .message(_, let message) = change, message.content == nil { return .erased }
    return nil
  }

  /// The kinds that a device of the user can get, never empty. The second one is for devices that may not get the
  /// first. If several kinds of alert apply to a message, only the first in the order of decision 0033 is listed.
  fileprivate func kinds(for recipient: FanOut.Recipient, in context: FanOut.RoomContext) -> [PushKind] {
    let user = recipient.user
    return switch change {
    case .message(_, let message):
      if user == actor {
        // Sending marks the room as read, so a device that gets no reminder still needs the new badge.
        context.wasScheduled ? [.reminder, .sent] : [.sent]
      } else if isSilent {
        [.message, .roomChange]
      } else if message.isMention(of: user, in: context) {
        [.mention]
      } else if message.thread != nil, context.followers.contains(user) {
        [.reply]
      } else {
        context.wasScheduled ? [.reminder] : [.message]
      }
    case .reaction(_, _, _, let author): user == author && user != actor ? [.reaction, .roomChange] : [.roomChange]
    case .deletion: [.update, .roomChange]
    case .added(_, let added): user == added && user != actor ? [.added, .roomChange] : [.roomChange]
    case .departed(_, let departed): user == departed ? [.update] : [.roomChange]
    case .reading, .blocks: [.update]
    case .invitation: [.invitation]
    case .room: [.roomChange]
    }
  }
}

extension PushEvent.Message {
  /// Whether it mentions a member: by name, with everyone, or because the room is direct.
  fileprivate func isMention(of user: UserID, in context: FanOut.RoomContext) -> Bool {
    context.isDirect || mentions.mention(user)
  }
}

extension Mentions {
  /// Whether they include a member of the room.
  fileprivate func mention(_ member: UserID) -> Bool { everyone || users.contains(member) }
}

extension FanOut.Recipient {
  /// The first reason that is the same for all devices of the user; nil if there is none.
  fileprivate func skipReason(
    for kind: PushKind, _ event: PushEvent, _ context: FanOut.RoomContext
  ) -> FanOut.SkipReason? {
    switch membership {
    case .joinsLater: return .beforeJoin
    // A user who has just left is notified, so that the app removes the room's notifications.
    case .left: if !event.isDeparture(of: user) { return .left }
    case .member, nil: break
    }
    if hasBlockedActor, kind.isWithheldByBlock { return .blocked }
    if event.isSilent, kind.alert != nil { return .silentEvent }
    if isDisabled { return .accountDisabled }
    if let alert = kind.alert {
      if rules.isRoomMuted(at: event.time) { return .mutedRoom }
      if kind == .message || kind == .reminder && user != event.actor, event.isInThread { return .notFollowing }
      if rules.isMuted(alert) { return .kindMuted }
    }
    if case .deletion(_, _, let location) = event.change, kind == .update {
      // What the user has read of a thread is not looked up: an unnecessary update shows nothing.
      let isUnread =
        location.isInThread
        ? context.isDirect || context.followers.contains(user) || context.deletedMentions.mention(user)
        : member.map { location.ordinal > $0.readThrough } ?? false
      if !isUnread { return .nothingToClear }
    }
    return nil
  }

  /// Nil for a user who is not a member.
  private var member: FanOut.Member? { if case .member(let member) = membership { member } else { nil } }

  fileprivate var rules: AlertRules {
    AlertRules(mutedUntil: member?.mutedUntil, levelInRoom: member?.level, preferences: preferences)
  }
}

extension PushEvent {
  fileprivate func isDeparture(of user: UserID) -> Bool {
    guard case .departed(_, user) = change else { return false }
    return true
  }

  fileprivate var isSilent: Bool {
    guard case .message(_, let message) = change else { return false }
    return message.content?.isSilent ?? false
  }

  fileprivate var isInThread: Bool {
    guard case .message(_, let message) = change else { return false }
    return message.thread != nil
  }
}
