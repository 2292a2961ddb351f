import ChatPrimitives
import ChatService
import Hummingbird
import Logging
import NIOCore

/// Limits the memory that responses to one address, or one IPv6 /64, take until its clients read them. HTTP/2 lets a
/// client request thousands of responses and read none. Short responses do not count, nor do downloads, which read
/// their file piece by piece and have slots of their own.
struct ResponseBudget: Sendable {
  private let limit: AddressLimit

  init(bytesOfAddress bytes: Int = Limits.unreadResponseBytesOfAddress) {
    limit = AddressLimit(
      bytes, name: "limitBytes",
      warning: "clients at an address do not read their responses; its requests for long responses are rejected")
  }

  /// Charges a piece of a stream to an address until it is released.
  /// - Throws: `SlowReader` if the address would exceed its budget.
  func hold(
    _ bytes: Int, of address: NetworkAddress?, _ logger: Logger
  ) throws(SlowReader) -> KeyedLimit<NetworkAddress?>.Reservation? {
    guard bytes > Limits.uncountedResponseBytes else { return nil }
    guard let reservation = limit.reserve(bytes, for: address, logger) else { throw SlowReader() }
    return reservation
  }

  /// - Returns: the response, which is charged to the address until its client has read most of it or has left.
  /// - Throws: `ServiceError.overloaded` if the address would exceed its budget. The changes of the request remain; a
  ///   retry gets the response.
  func charge(
    _ response: Response, to address: NetworkAddress?, over channel: any Channel, _ logger: Logger
  ) throws(ServiceError) -> Response {
    guard let bytes = response.body.contentLength, bytes > Limits.uncountedResponseBytes else { return response }
    guard let reservation = limit.reserve(bytes, for: address, logger) else { throw .overloaded }
    let whole = response.body
    var charged = response
    charged.body = ResponseBody(contentLength: bytes) { writer in
      try await whole.write(PieceWriter(writer, channel))
      withExtendedLifetime(reservation) {}
    }
    return charged
  }
}
