import ChatPrimitives
import ChatProtocol
import HTTPTypes
import Hummingbird
import NIOCore

/// The body of a request, with the shape that its endpoint declares. A handler reads it after every check that needs no
/// body: a client that waits for 100 (Continue) sends nothing before that.
struct TypedBody<Shape: BodyShape>: Sendable {
  private let exchange: Exchange

  init(of exchange: Exchange) {
    self.exchange = exchange
  }

  private func incoming() -> IncomingBody {
    if exchange.request.headers[.expect]?.lowercased() == "100-continue" {
      exchange.channel.triggerUserOutboundEvent(BodyWanted(), promise: nil)
    }
    return IncomingBody(body: exchange.request.body, logger: exchange.logger)
  }
}

extension TypedBody where Shape: RequestObject {
  func decoded() async throws -> Shape {
    try exchange.requireMediaType("application/json")
    guard exchange.announcedBytes ?? 0 <= Limits.requestBodyBytes else {
      throw Refusal.bodyTooLarge(limit: Limits.requestBodyBytes)
    }
    let buffer = try await incoming().collect(upTo: Limits.requestBodyBytes, charging: exchange.bodyCharge)
    // A body also ends because its task was cancelled; such a one is not whole.
    try Task.checkCancellation()
    return try await JSONBody.decode(Shape.self, from: buffer)
  }
}

extension TypedBody where Shape: RawBody {
  /// The bytes as they come in.
  func bytes() -> IncomingBody { incoming() }
}
