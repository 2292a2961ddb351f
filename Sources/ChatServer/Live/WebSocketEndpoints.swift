import ChatPrimitives
import ChatProtocol
import HTTPTypes
import Hummingbird
import NIOCore
import SocketProtocols

/// The paths at which connections become WebSockets. Accepted handshakes are measured and logged like the requests that the
/// router responds to.
struct WebSocketEndpoints: WebSocketAdmission {
  private struct Endpoint: Sendable {
    let path: String
    let admission: any WebSocketAdmission
  }

  /// By the segments of the path.
  private let endpoints: [[Substring]: Endpoint]
  private let metrics: HTTPMetrics
  private let accessLog: AccessLog?

  /// - Parameters:
  ///   - paths: each without a query.
  ///   - accessLog: nil if requests are not logged.
  init(_ paths: [String: any WebSocketAdmission], _ metrics: HTTPMetrics, _ accessLog: AccessLog?) {
    endpoints = Dictionary(
      uniqueKeysWithValues: paths.map { path, admission in
        (Self.segments(path[...]), Endpoint(path: path, admission: admission))
      })
    self.metrics = metrics
    self.accessLog = accessLog
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
    let start = ContinuousClock.now
    metrics.begin()
    guard let acceptance = await endpoint.admission.accept(request, on: channel) else {
      // The router begins again.
      metrics.abandon()
      return nil
    }
    let time = start.duration(to: .now)
    metrics.end(endpoint.path, request.method, .switchingProtocols, time)
    if let context = acceptance.context {
      accessLog?.write(
        AccessLog.Line(
          requestID: context.id, method: request.method, route: endpoint.path, status: .switchingProtocols, bytes: nil,
          peer: context.peer, trace: context.trace, time: time))
    }
    return acceptance
  }
}

extension WebSocketEndpoints {
  /// - Parameters:
  ///   - engines: the paths of Engine.IO.
  ///   - servesConformance: whether the endpoints of `hansard serve --conformance` are served too.
  ///   - accessLog: nil if requests are not logged.
  static func all(
    sync: SyncSocketAdmission, _ engines: [EngineEndpoint], servesConformance: Bool, _ metrics: HTTPMetrics,
    _ accessLog: AccessLog?
  ) -> WebSocketEndpoints {
    var paths: [String: any WebSocketAdmission] = [Endpoints.syncSocket.path: sync]
    if servesConformance { paths["/conformance/ws"] = EchoAdmission() }
    for engine in engines { paths[engine.settings.path] = engine }
    return WebSocketEndpoints(paths, metrics, accessLog)
  }
}

/// Asks the endpoints once the service is open. Before that the gate itself responds to every request.
struct GateAdmission: WebSocketAdmission {
  let gate: StartGate

  func accept(_ request: HTTPRequest, on channel: any Channel) async -> WebSocketAcceptance? {
    await gate.sockets?.accept(request, on: channel)
  }
}
