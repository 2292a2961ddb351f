import AsyncHTTPClient
import ChatPrimitives
import ChatProtocol
import Foundation
import NIOCore
import NIOHTTP1

/// Rebuilds read models beside a running server, through its API. The server does the work: if this tool is ended, the
/// rebuild that it has started continues.
struct RemoteRebuild {
  private static let connectSeconds: Int64 = 10
  private static let requestSeconds: Int64 = 60
  /// The time between two requests for the progress, in milliseconds.
  private static let pauseMilliseconds = 250
  /// How much of a response is read, in bytes.
  private static let responseBytes = 64 * 1024

  private let client: HTTPClient
  private let server: String
  private let authorization: String

  /// - Parameters:
  ///   - server: A URL such as `http://127.0.0.1:8080`.
  ///   - token: A service token.
  init(server: URL, token: String) {
    var configuration = HTTPClient.Configuration()
    configuration.timeout = .init(connect: .seconds(Self.connectSeconds))
    configuration.httpVersion = .http1Only
    // A redirect would send the token to another server.
    configuration.redirectConfiguration = .disallow
    client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    let text = server.absoluteString
    self.server = text.hasSuffix("/") ? String(text.dropLast()) : text
    authorization = "Bearer \(token)"
  }

  func shutdown() async throws { try await client.shutdown() }

  /// Rebuilds one read model after the other, which limits the load on the server.
  /// - Parameters:
  ///   - projection: nil for all of them.
  ///   - report: called with a line for each read model that is complete.
  func run(_ projection: String?, _ report: (String) throws -> Void) async throws {
    if let projection { return try await rebuild(projection, report) }
    for state in try await states() { try await rebuild(state.name, report) }
  }

  private func rebuild(_ name: String, _ report: (String) throws -> Void) async throws {
    let bar = ProgressBar(name, total: nil, unit: .items("events"))
    defer { bar.finish() }
    let path = Endpoints.rebuildProjection.path.replacing("{name}", with: name)
    var state = try await send(.POST, path, ReadModelState.self)
    while true {
      guard let rebuild = state.rebuild else {
        throw ToolError(
          "the rebuild of \(name) was discarded", because: "the server was restarted",
          next: "run the same command again")
      }
      switch rebuild.state {
      case "complete":
        bar.finish()
        let events = Quantity.count(rebuild.position.value)
        return try report("\(name): rebuilt, \(events) events in \(Quantity.seconds(bar.seconds))")
      case "cancelled": throw ToolError("the rebuild of \(name) was cancelled", next: "run the same command again")
      case "failed":
        throw ToolError("the rebuild of \(name) failed", because: rebuild.problem ?? "the server's log says why")
      default: bar.update(rebuild.position.value, of: rebuild.target.value, note: Self.note(rebuild))
      }
      try await Task.sleep(for: .milliseconds(Self.pauseMilliseconds))
      guard let next = try await states().first(where: { $0.name == name }) else { continue }
      state = next
    }
  }

  /// Replaces the rate while no events are counted.
  private static func note(_ rebuild: ReadModelRebuild) -> String? {
    switch rebuild.state {
    case "indexing": "creating the indexes"
    case "switching": "replacing the old file"
    default: nil
    }
  }

  private func states() async throws -> [ReadModelState] {
    try await send(.GET, Endpoints.listProjections.path, ReadModelList.self).projections
  }

  private func send<Body: Decodable>(_ method: HTTPMethod, _ path: String, _ type: Body.Type) async throws -> Body {
    var request = HTTPClientRequest(url: server + path)
    request.method = method
    request.headers.add(name: "Authorization", value: authorization)
    let (status, bytes) = try await execute(request)
    guard 200..<300 ~= status, let body = try? JSONDecoder().decode(type, from: bytes) else {
      let problem = try? JSONDecoder().decode(Problem.self, from: bytes)
      let reason = problem.map { "\($0.code): \($0.detail)" } ?? "it is not a response of a Hansard server"
      throw ToolError(
        "the server rejected the rebuild with status \(status)", because: reason,
        next: status == 401
          ? "use the token in the file admin-token of the data directory" : "see docs/errors.md for the code")
    }
    return body
  }

  private func execute(_ request: HTTPClientRequest) async throws -> (status: UInt, body: Data) {
    do {
      let response = try await client.execute(request, timeout: .seconds(Self.requestSeconds))
      var body = try await response.body.collect(upTo: Self.responseBytes)
      return (response.status.code, Data(body.readBytes(length: body.readableBytes) ?? []))
    } catch {
      throw ToolError(
        "the server \(server) cannot be reached", because: ConnectionFailure.text(error),
        next: "check --server and that the server runs")
    }
  }
}
