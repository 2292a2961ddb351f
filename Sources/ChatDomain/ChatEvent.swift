package import ChatPrimitives

/// Every fact that the log can hold, by the kind of stream that it belongs to.
package enum ChatEvent: Sendable, Equatable {
  case user(UserID, UserEvent)
  case room(RoomID, RoomEvent)
  case workspace(WorkspaceID, WorkspaceEvent)
  case server(ServerEvent)
}

/// A fact with what the log knows about it.
package struct RecordedEvent: Sendable, Equatable {
  package let stamp: Stamp
  package let version: StreamVersion
  /// In whose name.
  package let actor: UserID?
  /// The true actor, where it was not the user.
  package let service: ServiceID?
  package let device: DeviceID?
  package let command: CommandID?
  package let originalTime: Timestamp?
  package let event: ChatEvent

  package init(
    stamp: Stamp, version: StreamVersion, actor: UserID?, service: ServiceID?, device: DeviceID?, command: CommandID?,
    originalTime: Timestamp?, event: ChatEvent
  ) {
    self.stamp = stamp
    self.version = version
    self.actor = actor
    self.service = service
    self.device = device
    self.command = command
    self.originalTime = originalTime
    self.event = event
  }

  package var position: LogPosition { stamp.position }
  /// When it happened, as clients see it: the original time of an import, else the recorded one.
  package var occurredAt: Timestamp { originalTime ?? stamp.time }
}
