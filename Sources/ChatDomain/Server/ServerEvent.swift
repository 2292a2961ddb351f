package import ChatPrimitives

/// The events of the server's own stream.
package enum ServerEvent: Sendable, Equatable {
  /// The outcomes of many push notifications, so that a lost outbox can be rebuilt from the log.
  case pushOutcomesRecorded(PushOutcomes)
  /// Access tokens are signed with the key of this generation from now on; the first is generation 1.
  case signingKeyRotated(generation: UInt32)
  /// What the hold is about is not erased until the hold is lifted.
  case legalHoldPlaced(LegalHold)
  case legalHoldLifted(LegalHold.Lift)
  /// The payload was erased; the kind number is kept.
  case erased(kind: UInt16)
}

extension ServerEvent {
  /// The fingerprint of the command that recorded this; nil if no client sends one, or if the payload was erased.
  package var fingerprint: Fingerprint? {
    switch self {
    case .signingKeyRotated: .signingKeyRotation
    case .legalHoldPlaced(let hold): hold.fingerprint
    case .legalHoldLifted(let lift): lift.fingerprint
    case .pushOutcomesRecorded, .erased: nil
    }
  }
}

extension ServerEvent {
  /// Outcomes are not charged to anybody.
  var textBytes: Int {
    switch self {
    case .legalHoldPlaced(let hold): hold.reason.byteCount
    case .legalHoldLifted, .signingKeyRotated, .pushOutcomesRecorded, .erased: 0
    }
  }
}

extension Fingerprint {
  /// The same for every generation.
  package static var signingKeyRotation: Fingerprint { Fingerprint(.text("signing-key.rotate")) }
}

package struct PushOutcomes: Sendable, Equatable {
  /// Every notification of every event up to here is finished: delivered, unless an outcome says otherwise.
  package var settledThrough: LogPosition
  /// The notifications that were not delivered, and those of later events that are finished too.
  package var outcomes: [PushOutcome]

  package init(settledThrough: LogPosition, outcomes: [PushOutcome]) {
    self.settledThrough = settledThrough
    self.outcomes = outcomes
  }
}

package struct PushOutcome: Sendable, Hashable {
  /// The position of the event that the notification was about.
  package var position: LogPosition
  /// The user whose device it is: two users may give their devices the same ID.
  package var user: UserID
  package var device: DeviceID
  package var result: PushResult
  /// Why it was abandoned. Nil for other results, and for outcomes recorded before reasons existed.
  package var reason: PushAbandonment?
  /// What the provider last responded, such as `410 Unregistered`; at most `responseBytes` long. Nil if it was
  /// delivered, if nothing was sent, and for outcomes recorded before responses were kept.
  package var response: String?

  /// The maximum length of `response`, in bytes of UTF-8.
  package static let responseBytes = 64

  package init(
    position: LogPosition, user: UserID, device: DeviceID, result: PushResult, reason: PushAbandonment? = nil,
    response: String? = nil
  ) {
    self.position = position
    self.user = user
    self.device = device
    self.result = result
    self.reason = reason
    self.response = response
  }
}

/// The raw values are in the log.
package enum PushResult: UInt8, Sendable, CaseIterable {
  case delivered = 1
  /// The token is dead: the provider said so, or the device no longer has one.
  case tokenInvalid = 2
  /// Not sent, or given up. `PushOutcome.reason` says why.
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

/// Why a notification was abandoned. The raw values are in the log.
package enum PushAbandonment: UInt8, Sendable, CaseIterable {
  /// It was too old to be sent.
  case expired = 1
  /// The last attempt failed.
  case attemptsUsedUp = 2
  /// The message, or its room, was deleted before it could be sent.
  case deleted = 3
  /// The user had left, or had been removed or banned. Joining the room again does not send it.
  case left = 4
  /// The user's account had been disabled.
  case accountDisabled = 5
  /// The user had muted the room.
  case mutedRoom = 6
  /// The device had turned notifications off.
  case notificationsOff = 7
  /// The device wanted only mentions, and the message did not mention the user.
  case mentionsOnly = 8
  /// The user had blocked the sender.
  case blocked = 9
  /// The device showed the room on a live stream.
  case roomOpen = 10
  /// It showed nothing, and a newer one of the same kind was about the same room.
  case replaced = 11
  /// The provider refused the notification itself, so that sending it again would not help.
  case rejected = 12
  /// The user had switched off notifications of this kind.
  case kindMuted = 13
  /// The device no longer wanted changes of rooms.
  case roomChangesOff = 14
  /// The user had read the message.
  case alreadyRead = 15

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
    case .roomOpen: "room_open"
    case .blocked: "blocked"
    case .replaced: "replaced"
    case .rejected: "rejected"
    case .kindMuted: "kind_muted"
    case .alreadyRead: "already_read"
    case .roomChangesOff: "room_changes_off"
    }
  }
}
