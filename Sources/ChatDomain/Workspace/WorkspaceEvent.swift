/// An event of a workspace's stream, by family. The workspace's channels are rooms with streams of their own. `erased`
/// stands for an event whose payload is gone, except for events without a payload.
package enum WorkspaceEvent: Sendable, Equatable {
  case lifecycle(Lifecycle)
  case sharing(Sharing)
  case members(Members)
  case invitations(Invitations)
  /// The payload was erased; the kind number is kept.
  case erased(kind: UInt16)
}

extension WorkspaceEvent {
  /// See `EventFamily`.
  package var fingerprint: Fingerprint? {
    switch self {
    case .lifecycle(let event): event.fingerprint
    case .sharing(let event): event.fingerprint
    case .members(let event): event.fingerprint
    case .invitations(let event): event.fingerprint
    case .erased: nil
    }
  }

  var textBytes: Int {
    switch self {
    case .lifecycle(let event): event.textBytes
    case .sharing(let event): event.textBytes
    case .members(let event): event.textBytes
    case .invitations(let event): event.textBytes
    case .erased: 0
    }
  }

  var isUpkeep: Bool {
    switch self {
    case .lifecycle(let event): event.isUpkeep
    case .sharing(let event): event.isUpkeep
    case .members(let event): event.isUpkeep
    case .invitations(let event): event.isUpkeep
    case .erased: false
    }
  }
}
