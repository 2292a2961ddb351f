import ChatPrimitives
import ChatService
import Logging

/// Limits the memory that request bodies of one address, or of one /64 of IPv6, take until their requests end.
/// HTTP/2 lets a client begin a hundred bodies on each connection and end none. Ingest and uploads stream their bodies,
/// which do not count: they have limits of their own.
struct BodyBudget: Sendable {
  private let limit: KeyedLimit<NetworkAddress?>
  private let warnings: AddressWarnings

  init(bytesOfAddress bytes: Int = Limits.bodyBytesOfAddress) {
    limit = KeyedLimit(bytes)
    warnings = AddressWarnings(
      "request bodies from an address use too much memory and are rejected", limit: ("limitBytes", bytes))
  }

  /// For one request, which must release the charge when it ends.
  func charge(for address: NetworkAddress?, _ logger: Logger) -> BodyCharge {
    BodyCharge(
      reservation: KeyedLimit.Reservation(for: address?.network, in: limit), warnings: warnings, address: address,
      logger: logger)
  }
}

/// The part of the budget of its address that the body of one request takes.
struct BodyCharge: Sendable {
  fileprivate let reservation: KeyedLimit<NetworkAddress?>.Reservation
  fileprivate let warnings: AddressWarnings
  fileprivate let address: NetworkAddress?
  fileprivate let logger: Logger

  /// - Throws: `ServiceError.overloaded` if the address would exceed its budget.
  func add(_ bytes: Int) throws(ServiceError) {
    guard reservation.add(bytes) else {
      warnings.warn(of: address, logger)
      throw .overloaded
    }
  }

  /// Releases all that was added.
  func release() { reservation.release() }
}
