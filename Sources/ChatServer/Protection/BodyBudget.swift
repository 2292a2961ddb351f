import ChatPrimitives
import ChatService
import Logging

/// Limits the memory that request bodies of one address, or of one IPv6 /64, take until their requests end. HTTP/2 lets
/// a client begin a hundred bodies on each connection and end none. Bodies of ingest and uploads are streamed and have
/// their own limits, so they do not count. What WebSockets hold of unfinished messages does: see `UnfinishedBytes`.
struct BodyBudget: Sendable {
  private let limit: KeyedLimit<NetworkAddress?>
  private let warnings: AddressWarnings

  init(bytesOfAddress bytes: Int = Limits.bodyBytesOfAddress) {
    limit = KeyedLimit(bytes)
    warnings = AddressWarnings(
      "request bodies from an address use too much memory and are rejected", limit: ("limitBytes", bytes))
  }

  /// The charge for one request, which must release it when the request ends.
  func charge(for address: NetworkAddress?, _ logger: Logger) -> BodyCharge {
    BodyCharge(
      reservation: KeyedLimit.Reservation(for: address?.network, in: limit), warnings: warnings, address: address,
      logger: logger)
  }
}

/// The part of its address's budget that the body of one request takes.
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

  /// Charges this many bytes instead of those before.
  /// - Throws: `ServiceError.overloaded`, and changes nothing, if the address would exceed its budget.
  func hold(_ bytes: Int) throws(ServiceError) {
    guard reservation.hold(bytes) else {
      warnings.warn(of: address, logger)
      throw .overloaded
    }
  }

  /// Releases all that was added.
  func release() { reservation.release() }
}
