package import ChatPrimitives

/// The facts of the server's own stream.
package enum ServerEvent: Sendable, Equatable {
  /// What became of notices, many at a time, so that a lost outbox can be made again from the log.
  case pushOutcomesRecorded(PushOutcomes)
  /// Access tokens are signed with the key of this generation from now on; the first is generation 1.
  case signingKeyRotated(generation: UInt32)
  /// The payload was erased; the kind number is kept.
  case erased(kind: UInt16)
}

package struct PushOutcomes: Sendable, Equatable {
  /// Every notice of every event up to here is settled: delivered, unless an outcome says otherwise.
  package var settledThrough: LogPosition
  /// What became of single notices: each that was not delivered, and those of later events that are settled too.
  package var outcomes: [PushOutcome]

  package init(settledThrough: LogPosition, outcomes: [PushOutcome]) {
    self.settledThrough = settledThrough
    self.outcomes = outcomes
  }
}

package struct PushOutcome: Sendable, Hashable {
  /// The event that the notice told of.
  package var position: LogPosition
  /// Whose device it is: two users may give their devices the same ID.
  package var user: UserID
  package var device: DeviceID
  package var result: PushResult

  package init(position: LogPosition, user: UserID, device: DeviceID, result: PushResult) {
    self.position = position
    self.user = user
    self.device = device
    self.result = result
  }
}

/// The raw values stand in the log.
package enum PushResult: UInt8, Sendable, CaseIterable {
  case delivered = 1
  /// The token is dead: its provider said so, or the device has none any more.
  case tokenInvalid = 2
  /// Given up after the last attempt, or too old to be sent.
  case abandoned = 3
}
