import ChatService
import HTTPTypes
import Hummingbird
import Logging
import SocketProtocols

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

  /// - Parameter problems: gets the errors of Engine.IO. `ProblemMiddleware` notes the others.
  func add(_ engine: EngineEndpoint, _ problems: ProblemLog, to router: Router<ServerContext>) {
    for method in Self.engineMethods {
      router.on(RouterPath(engine.settings.path), method: method) { request, context in
        let bodyCharge = bodies.charge(for: context.address, context.logger)
        defer { bodyCharge.release() }
        let response: Response
        do {
          response = try await engine.respond(
            HansardRequestContext(
              request: request, parameters: context.parameters, caller: nil, requestID: context.id,
              receivedAt: chat.now(), address: context.address, logger: context.logger, channel: context.channel,
              bodyCharge: bodyCharge))
        } catch let error as EngineError {
          problems.note(
            error.problemCode.rawValue, status: error.problemCode.status.code,
            route: LoggedRoute.text(request, context), from: context.address ?? context.peer, to: context.logger)
          response = try error.response()
        }
        return try responses.charge(response, to: context.address, over: context.channel, context.logger)
      }
    }
  }
}
