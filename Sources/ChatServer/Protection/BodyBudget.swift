import ChatPrimitives
import ChatService

/// Bounds the memory that request bodies of one address, or of one /64 of version 6, take until their requests end.
/// HTTP/2 lets a client begin a hundred bodies on each connection and end none. Bodies that are streamed, those of ingest
/// and of uploads, do not count: they have limits of their own.
struct BodyBudget: Sendable {
  private let bytes: KeyedLimit<NetworkAddress?>

  init(bytesOfAddress limit: Int = Limits.bodyBytesOfAddress) {
    bytes = KeyedLimit(limit)
  }

  /// For one request, whose end must give it back.
  func charge(for address: NetworkAddress?) -> BodyCharge {
    BodyCharge(bytes: KeyedLimit.Reservation(for: address?.network, in: bytes))
  }
}

/// What the body of one request takes of the budget of its address.
struct BodyCharge: Sendable {
  fileprivate let bytes: KeyedLimit<NetworkAddress?>.Reservation

  /// - Throws: `ServiceError.overloaded` when the budget is used up.
  func take(_ count: Int) throws(ServiceError) {
    guard bytes.add(count) else { throw .overloaded }
  }

  /// Gives back all that was taken.
  func giveBack() { bytes.release() }
}
