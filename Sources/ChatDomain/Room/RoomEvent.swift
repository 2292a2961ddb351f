package import ChatPrimitives

/// An event of a room's stream, by family. A consumer names the families that it ignores, and every case of the
/// families that it uses. If an event has an author, the author is also the record's actor.
///
/// `erased` replaces an event whose payload was erased. Exceptions are messages in the room's timeline, whose ordinals
/// must stay, and events without a payload: an erasure never undoes a removal or a revocation.
package enum RoomEvent: Sendable, Equatable {
  case lifecycle(Lifecycle)
  case sharing(Sharing)
  case members(Members)
  case messages(Messages)
  case annotations(Annotations)
  case reading(Reading)
  case threads(Threads)
  case scheduling(Scheduling)
  case reports(Reports)
  /// The payload was erased; the kind number is kept.
  case erased(kind: UInt16)
}

extension RoomEvent {
  private var family: (any EventFamily)? {
    switch self {
    case .lifecycle(let event): event
    case .sharing(let event): event
    case .members(let event): event
    case .messages(let event): event
    case .annotations(let event): event
    case .reading(let event): event
    case .threads(let event): event
    case .scheduling(let event): event
    case .reports(let event): event
    case .erased: nil
    }
  }

  /// See `EventFamily`.
  package var fingerprint: Fingerprint? { family?.fingerprint }
  var textBytes: Int { family?.textBytes ?? 0 }
  var isUpkeep: Bool { family?.isUpkeep ?? false }
}
