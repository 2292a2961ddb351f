package import ChatPrimitives

/// The events of the server's own stream.
package enum ServerEvent: Sendable, Equatable {
  /// What became of notifications, many at a time, so that a lost outbox can be made again from the log.
  case pushOutcomesRecorded(PushOutcomes)
  /// Access tokens are signed with the key of this generation from now on; the first is generation 1.
  case signingKeyRotated(generation: UInt32)
  /// The payload was erased; the kind number is kept.
  case erased(kind: UInt16)
}

extension ServerEvent {
  /// What the command said that recorded this; nil for what no client asks for, and when the payload was erased.
  package var fingerprint: Fingerprint? {
    switch self {
    case .signingKeyRotated: .signingKeyRotation
    case .pushOutcomesRecorded, .erased: nil
    }
  }
}

extension Fingerprint {
  /// Whatever generation it came to.
  package static var signingKeyRotation: Fingerprint { Fingerprint(.text("signing-key.rotate")) }
}

package struct PushOutcomes: Sendable, Equatable {
  /// Every notification of every event up to here is settled: delivered, unless an outcome says otherwise.
  package var settledThrough: LogPosition
  /// What became of single notifications: each that was not delivered, and those of later events that are settled too.
  package var outcomes: [PushOutcome]

  package init(settledThrough: LogPosition, outcomes: [PushOutcome]) {
    self.settledThrough = settledThrough
    self.outcomes = outcomes
  }
}

package struct PushOutcome: Sendable, Hashable {
  /// The event that the notification told of.
  package var position: LogPosition
  /// Whose device it is: two users may give their devices the same ID.
  package var user: UserID
  package var device: DeviceID
  package var result: PushResult
  /// Of an abandoned one; nil also where it was recorded before reasons were.
  package var reason: PushAbandonment?

  package init(
    position: LogPosition, user: UserID, device: DeviceID, result: PushResult, reason: PushAbandonment? = nil
  ) {
    self.position = position
    self.user = user
    self.device = device
    self.result = result
    self.reason = reason
  }
}

/// The raw values stand in the log.
package enum PushResult: UInt8, Sendable, CaseIterable {
  case delivered = 1
  /// The token is dead: its provider said so, or the device has none any more.
  case tokenInvalid = 2
  /// Not sent, or given up: see the reason.
  case abandoned = 3

  /// What the tools print.
  package var name: String {
    switch self {
    case .delivered: "delivered"
    case .tokenInvalid: "token_invalid"
    case .abandoned: "abandoned"
    }
  }
}

/// Why a notification was abandoned. The raw values stand in the log.
package enum PushAbandonment: UInt8, Sendable, CaseIterable {
  /// It was too old to be sent.
  case expired = 1
  /// The last attempt failed.
  case attemptsUsedUp = 2
  /// The message, or its room, was deleted before it could be sent.
  case deleted = 3
  /// The user had left the room meanwhile, by whatever way; coming back later does not bring it back.
  case left = 4
  /// The user's account was disabled meanwhile.
  case accountDisabled = 5
  /// The user had muted the room meanwhile.
  case mutedRoom = 6
  /// The device wants to be told of nothing any more.
  case notificationsOff = 7
  /// The device wants to be told of mentions only by now, and this was none.
  case mentionsOnly = 8

  /// What the tools print.
  package var name: String {
    switch self {
    case .expired: "expired"
    case .attemptsUsedUp: "attempts_used_up"
    case .deleted: "deleted"
    case .left: "left"
    case .accountDisabled: "account_disabled"
    case .mutedRoom: "muted_room"
    case .notificationsOff: "notifications_off"
    case .mentionsOnly: "mentions_only"
    }
  }
}
