import ChatPrimitives
import Logging
import NIOCore
import Synchronization

/// Warns that bodies from an address are refused, at most once a minute for each address. An operator whose proxy is
/// not named as trusted must learn why its clients are refused.
final class BodyWarnings: Sendable {
  private static let interval = TimeAmount.minutes(1)
  /// How many addresses are remembered. An address that was forgotten may be logged again within the minute.
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
      "request bodies from an address take too much memory and are refused. If it is a proxy, name it in proxies.trusted",
      metadata: [
        "address": "\(network?.description ?? "unknown")", "limitBytes": "\(Limits.bodyBytesOfAddress)",
      ])
  }
}
