import CoreMetrics
import HTTPTypes
import ServerMetrics

/// Counts requests by route, method and status. All of its metrics are made at the start, because the path and the method of
/// a request are chosen by the client.
struct HTTPMetrics: Sendable {
  private struct Meters: Sendable {
    /// By the index of the status.
    let requests: [Counter]
    let time: Timer

    init(_ factory: any MetricsFactory, route: String, method: String) {
      requests = HTTPMetrics.statusLabels.map {
        factory.counter(.requests, ("route", route), ("method", method), ("status", $0))
      }
      time = factory.timer(.requestSeconds, ("route", route), ("method", method))
    }
  }

  private struct Key: Hashable {
    let route: String
    let method: HTTPRequest.Method
  }

  /// The statuses that the server can send.
  private static let statuses: [Int] = {
    let problems = ProblemCode.everyCode.map(\.status) + LegacyStatus.all.map(\.code)
    let others: [HTTPResponse.Status] = [
      .switchingProtocols, .ok, .created, .noContent, .partialContent, .notModified,
    ]
    return Set(problems + others.map(\.code)).sorted()
  }()
  /// The last two are for other statuses, and for requests without a response.
  private static let statusLabels = statuses.map(String.init) + ["other", "none"]
  private static let indices = Dictionary(uniqueKeysWithValues: zip(statuses, 0...))

  private static func index(of status: HTTPResponse.Status?) -> Int {
    guard let status else { return statuses.count + 1 }
    return indices[status.code] ?? statuses.count
  }

  /// The method of requests that match no route.
  private static let otherMethod = "other"

  private let inFlight: Meter
  private let directMessages: Counter
  private let routes: [Key: Meters]
  private let others: Meters

  /// - Parameter routes: the paths as they are declared, and their methods.
  init(_ factory: any MetricsFactory, routes: [(path: String, method: HTTPRequest.Method)]) {
    inFlight = factory.meter(.requestsInFlight)
    directMessages = factory.counter(.directMessages)
    let meters = routes.map { path, method in
      (Key(route: path, method: method), Meters(factory, route: path, method: method.rawValue))
    }
    self.routes = Dictionary(meters) { first, _ in first }
    others = Meters(factory, route: LoggedRoute.none, method: Self.otherMethod)
  }

  func begin() { inFlight.increment() }

  /// A message was sent without the router.
  func noteDirectMessage() { directMessages.increment() }

  /// The request is handled by something else, which begins again.
  func abandon() { inFlight.decrement() }

  /// - Parameters:
  ///   - route: the path as it is declared; nil if the request matched none.
  ///   - status: nil if there is no response, because the client is gone.
  func end(_ route: String?, _ method: HTTPRequest.Method, _ status: HTTPResponse.Status?, _ time: Duration) {
    inFlight.decrement()
    // HEAD is served by the route of GET.
    let method = method == .head ? .get : method
    let meters = route.flatMap { routes[Key(route: $0, method: method)] } ?? others
    meters.requests[Self.index(of: status)].increment()
    meters.time.record(time)
  }
}
