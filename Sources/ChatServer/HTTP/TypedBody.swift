import ChatPrimitives
import ChatProtocol
import HTTPTypes
import Hummingbird
import NIOCore

/// The body of a request, with the shape that its endpoint declares. A handler reads it after every check that needs no
/// body, because a client that waits for 100 (Continue) sends nothing before that.
struct TypedBody<Shape: BodyShape>: Sendable {
  private let context: HansardRequestContext

  init(of context: HansardRequestContext) {
    self.context = context
  }

  private func incoming() -> IncomingBody {
    if context.request.headers[.expect]?.lowercased() == "100-continue" {
      context.channel.triggerUserOutboundEvent(WillReadBody(), promise: nil)
    }
    return IncomingBody(body: context.request.body, logger: context.logger)
  }
}

extension TypedBody where Shape: RequestObject {
  func decoded() async throws -> Shape {
    try context.requireMediaType("application/json")
    guard context.announcedBytes ?? 0 <= Limits.requestBodyBytes else {
      throw Refusal.bodyTooLarge(limit: Limits.requestBodyBytes)
    }
    let buffer = try await incoming().collect(upTo: Limits.requestBodyBytes, charging: context.bodyCharge)
    // A body also ends if its task was cancelled. It is then incomplete.
    try Task.checkCancellation()
    return try await JSONBody.decode(Shape.self, from: buffer)
  }
}

extension TypedBody where Shape: RawBody {
  /// The bytes as they arrive.
  func bytes() -> IncomingBody { incoming() }
}
