import ChatPrimitives
import Logging
import NIOCore
import Synchronization

/// Logs that an address has exceeded a limit, at most once a minute for each address or IPv6 /64. Without this warning,
/// an operator who forgot a proxy in `proxies.trusted` would not know why its clients are rejected.
final class AddressWarnings: Sendable {
  private static let interval = TimeAmount.minutes(1)
  /// How many addresses are remembered. An address that was forgotten may be logged again within the minute.
  private static let addresses = 1_024

  private let message: String
  private let limit: Logger.Metadata
  private let dueAgain = Mutex(BoundedTable<NetworkAddress?, NIODeadline>(limit: AddressWarnings.addresses))

  /// - Parameters:
  ///   - message: what happens, as a sentence without its full stop.
  ///   - limit: the limit's name and value.
  init(_ message: String, limit: (name: String, value: Int)) {
    self.message = message
    self.limit = [limit.name: "\(limit.value)"]
  }

  /// Called for each connection or request that is rejected.
  func warn(of address: NetworkAddress?, _ logger: Logger, at now: NIODeadline = .now()) {
    let isDue = dueAgain.withLock { table in
      table.update(address?.network, default: .uptimeNanoseconds(0)) { due in
        guard due <= now else { return false }
        due = now + Self.interval
        return true
      }
    }
    guard isDue else { return }
    logger.warning(
      "\(message). If this is the address of a proxy, add it to proxies.trusted",
      metadata: limit.merging(["address": "\(address?.description ?? "unknown")"]) { $1 })
  }
}
