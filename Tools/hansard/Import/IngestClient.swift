import AsyncHTTPClient
import ChatProtocol
import Foundation
import NIOCore
import NIOHTTP1

/// Sends commands to `POST /v1/ingest` and passes on the results as they arrive.
struct IngestClient {
  /// Timeouts for connecting and for receiving the next bytes of a response, in seconds.
  private static let connectSeconds: Int64 = 10
  private static let readSeconds: Int64 = 120
  /// A connection that was idle for longer is not reused because the server may be closing it. In seconds.
  private static let idleSeconds: Int64 = 2
  /// The maximum length of a result line, in bytes. Every result of a Hansard server is shorter.
  private static let resultBytes = 64 * 1024
  /// How much of a problem's body is read, in bytes.
  private static let problemBytes = 64 * 1024

  /// The server's URL, as the user wrote it.
  let server: String
  private let client: HTTPClient
  private let url: String
  private let authorization: String

  /// - Parameters:
  ///   - server: A URL such as `http://127.0.0.1:8080`.
  ///   - token: A service token.
  init(server: URL, token: String) {
    var configuration = HTTPClient.Configuration()
    configuration.timeout = .init(connect: .seconds(Self.connectSeconds), read: .seconds(Self.readSeconds))
    configuration.connectionPool.idleTimeout = .seconds(Self.idleSeconds)
    configuration.connectionPool.retryConnectionEstablishment = false
    configuration.httpVersion = .http1Only
    // A redirect would send the history to another server.
    configuration.redirectConfiguration = .disallow
    client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    self.server = server.absoluteString
    url = (self.server.hasSuffix("/") ? String(self.server.dropLast()) : self.server) + Endpoints.ingest.path
    authorization = "Bearer \(token)"
  }

  func shutdown() async throws {
    try await client.shutdown()
  }

  /// The outcome of one request.
  enum IngestOutcome {
    /// All results were passed to the caller.
    case complete
    /// The server accepts nothing at the moment.
    case busy(Problem?, retryAfterSeconds: Int?)
  }

  /// - Parameters:
  ///   - lines: The number of lines in the body. The response may have at most as many lines, blank ones included.
  ///   - take: Called with each group of results as it arrives, in order.
  /// - Throws: `ToolError` if a retry cannot help, otherwise the error of the connection.
  func send(
    _ body: ArraySlice<UInt8>, lines limit: Int, _ take: ([IngestResult]) throws -> Void
  ) async throws -> IngestOutcome {
    var request = HTTPClientRequest(url: url)
    request.method = .POST
    request.headers.add(name: "Authorization", value: authorization)
    request.headers.add(name: "Content-Type", value: "application/x-ndjson")
    request.body = .bytes(ByteBuffer(bytes: body))
    let response = try await client.execute(request, deadline: .distantFuture)
    guard response.status.code == 200 else { return try await rejection(response) }
    let decoder = JSONDecoder()
    var rest: [UInt8] = []
    var count = 0
    for try await chunk in response.body {
      rest.append(contentsOf: chunk.readableBytesView)
      guard let end = rest.lastIndex(of: UInt8(ascii: "\n")) else {
        guard rest.count <= Self.resultBytes else { throw Self.notIngest(rest[...]) }
        continue
      }
      let lines = rest[..<end].split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      count += lines.count
      guard count <= limit else { throw Self.mismatch(because: "it sent more than \(limit) lines") }
      try take(try lines.filter { !$0.isEmpty }.map { try Self.result($0, decoder) })
      rest.removeFirst(end + 1)
    }
    return .complete
  }

  private static func result(_ line: ArraySlice<UInt8>, _ decoder: JSONDecoder) throws -> IngestResult {
    do {
      return try decoder.decode(IngestResult.self, from: Data(line))
    } catch {
      throw notIngest(line)
    }
  }

  private static func notIngest(_ line: ArraySlice<UInt8>) -> ToolError {
    ToolError(
      "the response is not an ingest response",
      because: "it contains \(String(decoding: line.prefix(200), as: UTF8.self))",
      next: "check that --server names a Hansard server")
  }

  /// The error for results that do not match the lines that were sent, once each and in order.
  static func mismatch(because reason: String) -> ToolError {
    ToolError(
      "the server's results do not match what was sent", because: reason,
      next: "check that --server names a Hansard server")
  }

  private func rejection(_ response: HTTPClientResponse) async throws -> IngestOutcome {
    var body = try await response.body.collect(upTo: Self.problemBytes)
    let bytes = body.readBytes(length: body.readableBytes) ?? []
    let problem = try? JSONDecoder().decode(Problem.self, from: Data(bytes))
    if response.status.code == 503 {
      return .busy(problem, retryAfterSeconds: response.headers.first(name: "Retry-After").flatMap { Int($0) })
    }
    let reason = problem.map { "\($0.code): \($0.detail)" } ?? "it is not a response of a Hansard server"
    let next =
      switch response.status.code {
      case 300..<400: "pass the address of the server itself to --server: the import does not follow redirects"
      case 401: "use the token in the file admin-token of the data directory"
      default: "see docs/errors.md for the code"
      }
    throw ToolError(
      "the server rejected the import with status \(response.status.code)", because: reason, next: next)
  }
}
