package import ChatPrimitives

/// Every event that the log can contain, by the kind of its stream. The frequent ones are shared by reference, because each
/// read model copies each event.
package enum ChatEvent: Sendable, Equatable {
  indirect case user(UserID, UserEvent)
  indirect case room(RoomID, RoomEvent)
  case workspace(WorkspaceID, WorkspaceEvent)
  case server(ServerEvent)
}

/// A family of events of one aggregate, and the properties of each event.
protocol EventFamily {
  /// The fingerprint of the command that recorded this event as its first; nil if the payload was erased.
  var fingerprint: Fingerprint? { get }
  /// Bytes of the event's texts and lists: see `ChatEvent.chargedBytes`.
  var textBytes: Int { get }
  /// Whether the event is upkeep, which may exceed the user's quotas: see `QuotaPurpose`.
  var isUpkeep: Bool { get }
}

extension EventFamily {
  /// The default, for a family without texts.
  var textBytes: Int { 0 }
  /// The default, for a family whose events only add something.
  var isUpkeep: Bool { false }
}

/// An event with what its record says about it.
package struct RecordedEvent: Sendable, Equatable {
  package let stamp: Stamp
  package let version: StreamVersion
  /// The user in whose name it was recorded.
  package let actor: UserID?
  /// The service that acted, if it was not the user.
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
