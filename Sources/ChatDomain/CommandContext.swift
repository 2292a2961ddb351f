package import ChatPrimitives

/// Who acts, through what, and when: what every command has in common.
package struct CommandContext: Hashable, Sendable {
  /// In whose name; nil when a service acts for itself, or when nobody is known yet (a registration).
  package var actor: UserID?
  /// The true actor, when a token of the server's own acts instead of the user.
  package var service: ServiceID?
  /// The session that the request's access token belongs to; nil with a service token.
  package var session: SessionID?
  /// The device that the session belongs to.
  package var device: DeviceID?
  /// The `Idempotency-Key` of the request.
  package var command: CommandID?
  /// The `If-Match` of the request.
  package var precondition: Precondition?
  /// When this is decided, by the checked clock: for every rule that depends on time. Set by the writer. The time in the
  /// record's envelope is later where the log's last time is.
  package var time: Timestamp
  /// When it happened elsewhere, for an import.
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

  /// Whether an administrator's or a service's token stands behind it.
  package var isByService: Bool { service != nil }
}
