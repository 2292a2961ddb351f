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
}

extension HansardRequestContext {
  /// The body as it arrives. A client that waits for 100 (Continue) is told to send it.
  func incomingBody() -> IncomingBody {
    if request.headers[.expect]?.lowercased() == "100-continue" {
      channel.triggerUserOutboundEvent(WillReadBody(), promise: nil)
    }
    return IncomingBody(body: request.body, logger: logger)
  }
}

extension TypedBody where Shape: RequestObject {
  func decoded() async throws -> Shape {
    try context.requireMediaType("application/json")
    guard context.announcedBytes ?? 0 <= Limits.requestBodyBytes else {
      throw Refusal.bodyTooLarge(limit: Limits.requestBodyBytes)
    }
    let buffer = try await context.incomingBody().collect(upTo: Limits.requestBodyBytes, charging: context.bodyCharge)
    // A body also ends if its task was cancelled. It is then incomplete.
    try Task.checkCancellation()
    return try await JSONBody.decode(Shape.self, from: buffer)
  }
}

extension TypedBody where Shape: RawBody {
  /// The bytes as they arrive.
  func bytes() -> IncomingBody { context.incomingBody() }
}
