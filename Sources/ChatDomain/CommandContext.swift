package import ChatPrimitives

/// Who sends a command, with which credentials, and when. Every command has one.
package struct CommandContext: Hashable, Sendable {
  /// The user in whose name it is sent; nil if a service acts for itself, or before the user exists (a registration).
  package var actor: UserID?
  /// The service that acts instead of the user, if the request has one of the server's own tokens.
  package var service: ServiceID?
  /// The session that the request's access token belongs to; nil with a service token.
  package var session: SessionID?
  /// The device that the session belongs to.
  package var device: DeviceID?
  /// The `Idempotency-Key` of the request.
  package var command: CommandID?
  /// The `If-Match` of the request.
  package var precondition: Precondition?
  /// When the command is decided, by the checked clock, for every rule that depends on time. The writer sets it. The
  /// time in the record's envelope is later if the log's last time is later.
  package var time: Timestamp
  /// For an import: when it happened in the other system.
  package var originalTime: Timestamp?

  package init(
    actor: UserID? = nil, service: ServiceID? = nil, session: SessionID? = nil, device: DeviceID? = nil,
    command: CommandID? = nil, precondition: Precondition? = nil, time: Timestamp, originalTime: Timestamp? = nil
  ) {
    self.actor = actor
    self.service = service
    self.session = session
    self.device = device
    self.command = command
    self.precondition = precondition
    self.time = time
    self.originalTime = originalTime
  }

  /// Whether the request has an administrator's or a service's token.
  package var isByService: Bool { service != nil }
}
