import ChatService
import Logging

/// The limits of messages that are not complete.
struct UnfinishedLimits: Sendable {
  let bodies: BodyBudget
  let connections: ConnectionSettings
}

/// What a stream holds of messages that are not complete. Like the bodies of requests, it is charged to the address of its
/// client, and a message must arrive fast enough.
struct UnfinishedBytes: Sendable {
  private let limits: UnfinishedLimits
  private let address: NetworkAddress?
  private let logger: Logger
  /// Nil while nothing is held, as most of the time.
  private var charge: BodyCharge?
  /// Nil while no message is incomplete.
  private var pace: BodyPace?
  /// How much of the message has arrived.
  private var received = 0

  init(_ limits: UnfinishedLimits, of address: NetworkAddress?, _ logger: Logger) {
    self.limits = limits
    self.address = address
    self.logger = logger
  }

  /// Charges the bytes that are held instead of those before.
  /// - Parameters:
  ///   - message: the bytes of the incomplete message.
  ///   - waiting: the bytes of complete ones that cannot be delivered yet.
  ///   - now: the time since any fixed origin.
  /// - Throws: `ServiceError.overloaded`, and charges the same as before, if the address would exceed its budget.
  mutating func hold(_ message: Int, waiting: Int = 0, at now: Duration) throws(ServiceError) {
    if message > 0 {
      if pace == nil { pace = newPace(from: now) }
      pace?.noteReceived(max(0, message - received))
      received = message
    } else {
      complete()
    }
    guard message + waiting > 0 else {
      charge = nil
      return
    }
    let charge = charge ?? limits.bodies.charge(for: address, logger)
    self.charge = charge
    try charge.hold(message + waiting)
  }

  /// The message is complete. The next one gets its own time limit.
  mutating func complete() { (pace, received) = (nil, 0) }

  /// Restarts the time limit of the message, because the server did not read what the client sent.
  mutating func restart(at now: Duration) {
    if pace != nil { pace = newPace(from: now) }
  }

  /// Releases everything.
  mutating func release() {
    complete()
    charge = nil
  }

  /// - Returns: nil if messages may take any time.
  private func newPace(from now: Duration) -> BodyPace? {
    let (settings, began) = (limits.connections, UInt64(clamping: Int64(now / .nanoseconds(1))))
    guard settings.bodyBytesPerSecond > 0 else { return nil }
    return BodyPace(settings, bytesPerSecond: settings.bodyBytesPerSecond, began: began)
  }

  /// When more of the message must have arrived; nil while no message is incomplete.
  var deadline: Duration? { pace.map { .nanoseconds(Int64(clamping: $0.deadline)) } }
}
