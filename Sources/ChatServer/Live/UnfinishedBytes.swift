import ChatService
import Logging

/// What a stream holds of messages that are not complete, charged to the address of its client like the bodies of
/// requests.
struct UnfinishedBytes: Sendable {
  private let bodies: BodyBudget
  private let address: NetworkAddress?
  private let logger: Logger
  /// Nil while nothing is held, as most of the time.
  private var charge: BodyCharge?

  init(_ bodies: BodyBudget, of address: NetworkAddress?, _ logger: Logger) {
    self.bodies = bodies
    self.address = address
    self.logger = logger
  }

  /// Charges this many bytes instead of those before.
  /// - Throws: `ServiceError.overloaded`, and changes nothing, if the address would exceed its budget.
  mutating func hold(_ bytes: Int) throws(ServiceError) {
    guard bytes > 0 else {
      charge = nil
      return
    }
    let charge = charge ?? bodies.charge(for: address, logger)
    self.charge = charge
    try charge.hold(bytes)
  }
}
