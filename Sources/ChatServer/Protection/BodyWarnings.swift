import ChatPrimitives
import Logging
import NIOCore
import Synchronization

/// Warns once a minute that bodies of an address are refused, each address for itself: an operator whose proxy is not
/// named as trusted must learn why its clients are turned away.
final class BodyWarnings: Sendable {
  private static let interval = TimeAmount.minutes(1)
  /// Addresses whose last warning is remembered. One that is forgotten is warned of again.
  private static let addresses = 1_024

  private let dueAgain = Mutex(BoundedTable<NetworkAddress?, NIODeadline>(limit: BodyWarnings.addresses))

  /// Called for each refused body.
  func warn(of address: NetworkAddress?, _ logger: Logger, at now: NIODeadline = .now()) {
    let network = address?.network
    let isDue = dueAgain.withLock { table in
      table.update(network, usual: .uptimeNanoseconds(0)) { due in
        guard due <= now else { return false }
        due = now + Self.interval
        return true
      }
    }
    guard isDue else { return }
    logger.warning(
      "an address has too many bodies in memory; further ones are refused. If it is a proxy, name it in proxies.trusted",
      metadata: [
        "address": "\(network?.description ?? "unknown")", "limitBytes": "\(Limits.bodyBytesOfAddress)",
      ])
  }
}
