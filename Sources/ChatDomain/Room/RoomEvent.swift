package import ChatPrimitives

/// An event of a room's stream, by family. A consumer names the families that it ignores, and every case of those that it
/// uses. Where an event has an author, the author is the record's actor too.
///
/// `erased` stands for an event whose payload is gone, except for a message, whose ordinal must stay, and for events
/// without a payload: an erasure never undoes a removal or a revocation.
package enum RoomEvent: Sendable, Equatable {
  case lifecycle(Lifecycle)
  case sharing(Sharing)
  case members(Members)
  case messages(Messages)
  case annotations(Annotations)
  case reading(Reading)
  case threads(Threads)
  case scheduling(Scheduling)
  /// The payload was erased; the kind number is kept.
  case erased(kind: UInt16)
}

extension RoomEvent {
  /// See `EventFamily`.
  package var fingerprint: Fingerprint? {
    switch self {
    case .lifecycle(let event): event.fingerprint
    case .sharing(let event): event.fingerprint
    case .members(let event): event.fingerprint
    case .messages(let event): event.fingerprint
    case .annotations(let event): event.fingerprint
    case .reading(let event): event.fingerprint
    case .threads(let event): event.fingerprint
    case .scheduling(let event): event.fingerprint
    case .erased: nil
    }
  }

  var textBytes: Int {
    switch self {
    case .lifecycle(let event): event.textBytes
    case .sharing(let event): event.textBytes
    case .members(let event): event.textBytes
    case .messages(let event): event.textBytes
    case .annotations(let event): event.textBytes
    case .reading(let event): event.textBytes
    case .threads(let event): event.textBytes
    case .scheduling(let event): event.textBytes
    case .erased: 0
    }
  }

  var isUpkeep: Bool {
    switch self {
    case .lifecycle(let event): event.isUpkeep
    case .sharing(let event): event.isUpkeep
    case .members(let event): event.isUpkeep
    case .messages(let event): event.isUpkeep
    case .annotations(let event): event.isUpkeep
    case .reading(let event): event.isUpkeep
    case .threads(let event): event.isUpkeep
    case .scheduling(let event): event.isUpkeep
    case .erased: false
    }
  }
}
