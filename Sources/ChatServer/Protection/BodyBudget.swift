import ChatPrimitives
import ChatService
import Synchronization

/// Bounds the memory that request bodies of one address, or of one /64 of version 6, take until their requests end.
/// HTTP/2 lets a client begin a hundred bodies on each connection and end none. Bodies that are streamed, those of ingest
/// and of uploads, do not count: they have limits of their own.
final class BodyBudget: Sendable {
  private let limit: Int
  /// Addresses with bytes in memory only, so there are no more entries than requests.
  private let held = Mutex<[NetworkAddress?: Int]>([:])

  init(bytesOfAddress limit: Int = Limits.bodyBytesOfAddress) {
    self.limit = limit
  }

  /// For one request, whose end must give it back.
  func charge(for address: NetworkAddress?) -> BodyCharge { BodyCharge(self, address?.network) }

  /// - Returns: false when the address would have more than it may; then nothing is taken.
  fileprivate func take(_ bytes: Int, of network: NetworkAddress?) -> Bool {
    held.withLock { held in
      let others = held[network, default: 0]
      guard bytes <= limit - others else { return false }
      held[network] = others + bytes
      return true
    }
  }

  fileprivate func giveBack(_ bytes: Int, of network: NetworkAddress?) {
    held.withLock { held in
      guard let all = held[network] else { return }
      held[network] = all > bytes ? all - bytes : nil
    }
  }
}

/// What the body of one request takes of the budget of its address.
final class BodyCharge: Sendable {
  private let budget: BodyBudget
  private let network: NetworkAddress?
  private let taken = Mutex(0)

  fileprivate init(_ budget: BodyBudget, _ network: NetworkAddress?) {
    self.budget = budget
    self.network = network
  }

  /// - Throws: `ServiceError.overloaded` when the budget is used up.
  func take(_ bytes: Int) throws(ServiceError) {
    // An entry for an empty piece would never be removed.
    guard bytes > 0 else { return }
    guard budget.take(bytes, of: network) else { throw .overloaded }
    taken.withLock { $0 += bytes }
  }

  /// Gives back all that was taken.
  func giveBack() {
    let bytes = taken.withLock { taken in
      defer { taken = 0 }
      return taken
    }
    if bytes > 0 { budget.giveBack(bytes, of: network) }
  }
}
