package import ChatDomain
package import ChatPrimitives

/// Who makes a request, according to its token and headers.
package struct Principal: Sendable, Hashable {
  /// The user in whose name the request is made; nil if a service acts for itself.
  package var user: UserID?
  package var session: SessionID?
  package var device: DeviceID?
  /// Set if the request has one of the server's own tokens.
  package var service: ServiceID?

  package init(user: UserID? = nil, session: SessionID? = nil, device: DeviceID? = nil, service: ServiceID? = nil) {
    self.user = user
    self.session = session
    self.device = device
    self.service = service
  }

  /// The writer sets the time.
  func context(
    command: CommandID? = nil, precondition: Precondition? = nil, originalTime: Timestamp? = nil
  ) -> CommandContext {
    CommandContext(
      actor: user, service: service, session: session, device: device, command: command,
      precondition: precondition, time: Timestamp(milliseconds: 0), originalTime: originalTime)
  }
}
