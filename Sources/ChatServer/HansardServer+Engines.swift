import ChatService
import HTTPTypes
import Hummingbird
import Logging

extension HansardServer {
  /// The paths of Engine.IO.
  func engines(
    _ configuration: Configuration, _ services: StreamServices, _ origins: OriginRule, _ addresses: AddressRateCheck,
    _ logger: Logger
  ) -> [EngineEndpoint] {
    let chat = EngineEndpoint.chat(services, origins, addresses, logger)
    guard configuration.servesConformance else { return [chat] }
    return [chat, .conformanceEngine(addresses, logger), .conformanceSocket(addresses, logger)]
  }

  /// The methods that a path of Engine.IO answers in the form of its protocol, also if only to refuse them.
  static let engineMethods: [HTTPRequest.Method] = [.get, .post, .put, .patch, .delete, .options]

  func add(_ engine: EngineEndpoint, to router: Router<ServerContext>) {
    for method in Self.engineMethods {
      router.on(RouterPath(engine.settings.path), method: method) { request, context in
        let bodyCharge = bodies.charge(for: context.address, context.logger)
        defer { bodyCharge.release() }
        let response = try await engine.respond(
          HansardRequestContext(
            request: request, parameters: context.parameters, caller: nil, requestID: context.id,
            receivedAt: chat.now(), address: context.address, logger: context.logger, channel: context.channel,
            bodyCharge: bodyCharge))
        return try responses.charge(response, to: context.address, over: context.channel, context.logger)
      }
    }
  }
}
