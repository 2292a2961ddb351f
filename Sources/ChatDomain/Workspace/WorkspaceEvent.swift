/// An event of a workspace's stream, by family. The workspace's channels are rooms and have their own streams. `erased`
/// replaces an event whose payload was erased, except for events without a payload.
package enum WorkspaceEvent: Sendable, Equatable {
  case lifecycle(Lifecycle)
  case sharing(Sharing)
  case members(Members)
  case invitations(Invitations)
  /// The payload was erased; the kind number is kept.
  case erased(kind: UInt16)
}

extension WorkspaceEvent {
  private var family: (any EventFamily)? {
    switch self {
    case .lifecycle(let event): event
    case .sharing(let event): event
    case .members(let event): event
    case .invitations(let event): event
    case .erased: nil
    }
  }

  /// See `EventFamily`.
  package var fingerprint: Fingerprint? { family?.fingerprint }
  var textBytes: Int { family?.textBytes ?? 0 }
  var isUpkeep: Bool { family?.isUpkeep ?? false }
}
