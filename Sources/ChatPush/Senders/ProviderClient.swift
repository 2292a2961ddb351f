import AsyncHTTPClient
import HTTPClientLimits
import NIOCore
import NIOHTTP1
import NIOSSL

/// Sends the requests of one provider or webhook. Each thread has its own connections. Redirects are not followed.
final class ProviderClient: Sendable {
  /// How long one request to a provider may take, in seconds.
  static let timeoutSeconds: Int64 = 10
  /// The maximum number of frames of a response over HTTP/2. One with the longest body that is read (`ResponseCollector`)
  /// usually needs six.
  static let responseFrames = 64
  /// How long a connection to a provider stays open without requests, in seconds.
  private static let idleSeconds: Int64 = 1800
  /// The connections of each thread to a provider that only offers HTTP/1.1.
  private static let http1Connections = 4

  /// One for each thread.
  private let clients: [HTTPClient]
  private let threads: PushThreads
  private let timeout: TimeAmount
  private let bodyTime: TimeAmount?

  /// - Parameters:
  ///   - timeout: how long one request may take.
  ///   - bodyTime: how long the body of a response may take after its head; nil if only `timeout` limits it.
  init(
    _ configuration: HTTPClient.Configuration, timeout: TimeAmount, bodyTime: TimeAmount? = nil, _ threads: PushThreads
  ) {
    var configuration = configuration
    configuration.redirectConfiguration = .disallow
    configuration.timeout = HTTPClient.Configuration.Timeout(connect: timeout, read: timeout)
    configuration.limitResponses(frames: Self.responseFrames) { StalledConnectionCheck.add(to: $0) }
    configuration.http2ConnectionDebugInitializer = { ProviderConnection.add(to: $0) }
    let shared = configuration
    clients = threads.loops.map { HTTPClient(eventLoopGroupProvider: .shared($0), configuration: shared) }
    self.threads = threads
    self.timeout = timeout
    self.bodyTime = bodyTime
  }

  /// For a provider: HTTP/2, with one long-lived connection for each host and thread. A server that does not offer HTTP/2
  /// is used with HTTP/1.1.
  convenience init(_ tls: TLSConfiguration, _ threads: PushThreads) {
    var configuration = HTTPClient.Configuration(tlsConfiguration: tls)
    configuration.connectionPool.idleTimeout = .seconds(Self.idleSeconds)
    configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = Self.http1Connections
    // A failed connection is reported at once. The provider is then paused, and no attempt waits for a connection.
    configuration.connectionPool.retryConnectionEstablishment = false
    self.init(configuration, timeout: .seconds(Self.timeoutSeconds), threads)
  }

  struct Response: Sendable {
    var status: UInt
    var retryAfter: Duration?
    /// Empty if it was too long, or was not complete in time.
    var body: [UInt8]
  }

  /// Posts a body.
  /// - Throws: `ProviderUnreachable` if there is no connection, or another error if the request failed.
  func post(_ address: ProviderAddress, _ headers: HTTPHeaders, _ body: [UInt8]) async throws -> Response {
    let request = address.request(headers, body)
    let collector = ResponseCollector(bodyTime: bodyTime)
    // With the connection of this thread, neither the request nor the response changes threads.
    let client = clients[threads.current ?? 0]
    let task = client.execute(request: request, delegate: collector, deadline: .now() + timeout)
    do {
      return try await withTaskCancellationHandler {
        try await task.get()
      } onCancel: {
        task.cancel()
      }
    } catch {
      if let status = collector.responseWithoutBody { return status }
      guard !collector.hasBegun, !Self.isOfOneRequest(error) else { throw error }
      throw ProviderUnreachable(reason: "\(error)")
    }
  }

  /// Whether an error concerns only one request that got no connection: it waited too long, or was cancelled. It does
  /// not show that the provider cannot be reached.
  private static func isOfOneRequest(_ error: any Error) -> Bool {
    (error as? HTTPClientError).map { [.deadlineExceeded, .cancelled].contains($0) } ?? (error is CancellationError)
  }

  func close() async {
    for client in clients { try? await client.shutdown() }
  }
}
