/// An event of a user's stream, by family. `erased` replaces an event whose payload was erased, except for unlinked
/// logins and events without a payload.
package enum UserEvent: Sendable, Equatable {
  case account(Account)
  case logins(Logins)
  case sessions(Sessions)
  case devices(Devices)
  case media(Uploads)
  case blocks(Blocks)
  case deletion(Deletion)
  /// The payload was erased; the kind number is kept.
  case erased(kind: UInt16)
}

extension UserEvent {
  private var family: (any EventFamily)? {
    switch self {
    case .account(let event): event
    case .logins(let event): event
    case .sessions(let event): event
    case .devices(let event): event
    case .media(let event): event
    case .blocks(let event): event
    case .deletion(let event): event
    case .erased: nil
    }
  }

  /// See `EventFamily`.
  package var fingerprint: Fingerprint? { family?.fingerprint }
  var textBytes: Int { family?.textBytes ?? 0 }
  var isUpkeep: Bool { family?.isUpkeep ?? false }
}
