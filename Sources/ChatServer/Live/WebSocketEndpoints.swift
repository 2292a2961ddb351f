import ChatPrimitives
import ChatProtocol
import HTTPTypes
import NIOCore
import SocketProtocols

/// The paths at which connections become WebSockets.
struct WebSocketEndpoints: WebSocketAdmission {
  /// By the segments of the path.
  private let endpoints: [[Substring]: any WebSocketAdmission]

  /// - Parameter paths: each without a query.
  init(_ paths: [String: any WebSocketAdmission]) {
    endpoints = Dictionary(uniqueKeysWithValues: paths.map { (Self.segments($0.key[...]), $0.value) })
  }

  /// Compares paths as the router does: extra slashes make no difference.
  private static func segments(_ path: Substring) -> [Substring] { path.split(separator: "/") }

  /// The checks are the ones that `AddressRateCheck` makes for all routes. The router responds if one of them fails.
  func accept(_ request: HTTPRequest, on channel: any Channel) async -> WebSocketAcceptance? {
    let target = request.path ?? ""
    guard target.utf8.count <= Limits.requestTargetBytes,
      let endpoint = endpoints[Self.segments(target.prefix { $0 != "?" })],
      (try? StreamSafeRequest.require(target: target, request.headerFields)) != nil
    else { return nil }
    return await endpoint.accept(request, on: channel)
  }
}

extension WebSocketEndpoints {
  /// - Parameters:
  ///   - engines: the paths of Engine.IO.
  ///   - servesConformance: whether the endpoints of `hansard serve --conformance` are served too.
  static func all(
    sync: SyncSocketAdmission, _ engines: [EngineEndpoint], servesConformance: Bool
  ) -> WebSocketEndpoints {
    var paths: [String: any WebSocketAdmission] = [Endpoints.syncSocket.path: sync]
    if servesConformance { paths["/conformance/ws"] = EchoAdmission() }
    for engine in engines { paths[engine.settings.path] = engine }
    return WebSocketEndpoints(paths)
  }
}

/// Asks the endpoints once the service is open. Before that the gate itself responds to every request.
struct GateAdmission: WebSocketAdmission {
  let gate: StartGate

  func accept(_ request: HTTPRequest, on channel: any Channel) async -> WebSocketAcceptance? {
    await gate.sockets?.accept(request, on: channel)
  }
}
