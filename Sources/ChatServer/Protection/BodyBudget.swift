import ChatPrimitives
import ChatService

/// Bounds the memory that request bodies of one address, or of one /64 of version 6, take until their requests end.
/// HTTP/2 lets a client begin a hundred bodies on each connection and end none. Bodies that are streamed, those of ingest
/// and of uploads, do not count: they have limits of their own.
struct BodyBudget: Sendable {
  private let limit: KeyedLimit<NetworkAddress?>

  init(bytesOfAddress bytes: Int = Limits.bodyBytesOfAddress) {
    limit = KeyedLimit(bytes)
  }

  /// For one request, whose end must give it back.
  func charge(for address: NetworkAddress?) -> BodyCharge {
    BodyCharge(reservation: KeyedLimit.Reservation(for: address?.network, in: limit))
  }
}

/// What the body of one request takes of the budget of its address.
struct BodyCharge: Sendable {
  fileprivate let reservation: KeyedLimit<NetworkAddress?>.Reservation

  /// - Throws: `ServiceError.overloaded` when the budget is used up.
  func take(_ bytes: Int) throws(ServiceError) {
    guard reservation.add(bytes) else { throw .overloaded }
  }

  /// Gives back all that was taken.
  func giveBack() { reservation.release() }
}
