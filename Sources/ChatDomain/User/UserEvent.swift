/// An event of a user's stream, by family. `erased` stands for an event whose payload is gone, except for events without a
/// payload.
package enum UserEvent: Sendable, Equatable {
  case account(Account)
  case logins(Logins)
  case sessions(Sessions)
  case devices(Devices)
  case media(Uploads)
  /// The payload was erased; the kind number is kept.
  case erased(kind: UInt16)
}

extension UserEvent {
  /// See `EventFamily`.
  package var fingerprint: Fingerprint? {
    switch self {
    case .account(let event): event.fingerprint
    case .logins(let event): event.fingerprint
    case .sessions(let event): event.fingerprint
    case .devices(let event): event.fingerprint
    case .media(let event): event.fingerprint
    case .erased: nil
    }
  }

  var textBytes: Int {
    switch self {
    case .account(let event): event.textBytes
    case .logins(let event): event.textBytes
    case .sessions(let event): event.textBytes
    case .devices(let event): event.textBytes
    case .media(let event): event.textBytes
    case .erased: 0
    }
  }

  var isUpkeep: Bool {
    switch self {
    case .account(let event): event.isUpkeep
    case .logins(let event): event.isUpkeep
    case .sessions(let event): event.isUpkeep
    case .devices(let event): event.isUpkeep
    case .media(let event): event.isUpkeep
    case .erased: false
    }
  }
}
