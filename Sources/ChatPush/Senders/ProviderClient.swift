import AsyncHTTPClient
import ChatPrimitives
import Foundation
import NIOCore
import NIOHTTP1
import NIOSSL
import Synchronization

/// Sends the requests of one provider over HTTP/2, with one long-lived connection for each host. A server that does not
/// offer HTTP/2 is used with HTTP/1.1. Redirects are not followed.
final class ProviderClient: Sendable {
  /// How long one request may take, in seconds.
  static let timeoutSeconds: Int64 = 10
  /// How long a connection without requests stays open, in seconds.
  private static let idleSeconds: Int64 = 1800
  /// How many bytes of a response's body are read. A longer body is ignored.
  fileprivate static let bodyBytes = 64 * 1024
  /// The connections to a host that only offers HTTP/1.1.
  private static let http1Connections = 8

  private let client: HTTPClient

  init(_ tls: TLSConfiguration, _ threads: PushThreads) {
    var configuration = HTTPClient.Configuration(
      tlsConfiguration: tls, redirectConfiguration: .disallow,
      timeout: HTTPClient.Configuration.Timeout(
        connect: .seconds(Self.timeoutSeconds), read: .seconds(Self.timeoutSeconds)))
    configuration.connectionPool.idleTimeout = .seconds(Self.idleSeconds)
    configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = Self.http1Connections
    // A failed connection is reported at once. The provider is then paused, and no attempt waits for a connection.
    configuration.connectionPool.retryConnectionEstablishment = false
    configuration.http1_1ConnectionDebugInitializer = { InformationalResponseLimit.add(to: $0) }
    client = HTTPClient(eventLoopGroupProvider: .shared(threads.connections), configuration: configuration)
  }

  struct Response: Sendable {
    var status: UInt
    var retryAfter: Duration?
    /// Empty if it was too long, or was not complete in time.
    var body: [UInt8]
  }

  /// Posts a body.
  /// - Throws: `ProviderUnreachable` if there is no connection, or another error if the request failed.
  func post(_ url: String, _ headers: HTTPHeaders, _ body: [UInt8]) async throws -> Response {
    let request = try HTTPClient.Request(url: url, method: .POST, headers: headers, body: .bytes(body))
    let collector = ResponseCollector()
    let task = client.execute(request: request, delegate: collector, deadline: .now() + .seconds(Self.timeoutSeconds))
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

  func close() async { try? await client.shutdown() }
}

/// One request and its response. The client calls it on the event loop of the connection, so a response wakes its task
/// only once.
private final class ResponseCollector: HTTPClientResponseDelegate {
  typealias Response = ProviderClient.Response

  private struct State {
    var hasBegun = false
    var head: HTTPResponseHead?
    var body = ByteBuffer()
  }

  private struct BodyTooLong: Error {}

  private let state = Mutex(State())

  /// Whether the request had a connection.
  var hasBegun: Bool { state.withLock(\.hasBegun) }

  /// The response if it has a status, although its body was too long, too slow or broke off: the status counts.
  var responseWithoutBody: Response? { state.withLock { $0.head.map { Self.response($0, body: []) } } }

  func didSendRequestHead(task: HTTPClient.Task<Response>, _ head: HTTPRequestHead) {
    state.withLock { $0.hasBegun = true }
  }

  func didReceiveHead(task: HTTPClient.Task<Response>, _ head: HTTPResponseHead) -> EventLoopFuture<Void> {
    state.withLock { $0.head = head }
    return task.eventLoop.makeSucceededVoidFuture()
  }

  func didReceiveBodyPart(task: HTTPClient.Task<Response>, _ buffer: ByteBuffer) -> EventLoopFuture<Void> {
    let length = state.withLock { state in
      var buffer = buffer
      state.body.writeBuffer(&buffer)
      return state.body.readableBytes
    }
    return length > ProviderClient.bodyBytes
      ? task.eventLoop.makeFailedFuture(BodyTooLong()) : task.eventLoop.makeSucceededVoidFuture()
  }

  func didFinishRequest(task: HTTPClient.Task<Response>) throws -> Response {
    try state.withLock { state in
      guard let head = state.head else { throw HTTPClientError.remoteConnectionClosed }
      return Self.response(head, body: Array(state.body.readableBytesView))
    }
  }

  private static func response(_ head: HTTPResponseHead, body: [UInt8]) -> Response {
    let retryAfter = head.headers.first(name: "retry-after").flatMap { RetryAfter.delay($0, at: Date()) }
    return Response(status: head.status.code, retryAfter: retryAfter, body: body)
  }
}

/// No connection to the provider could be made.
struct ProviderUnreachable: Error {
  let reason: String
}

/// The header `Retry-After` (RFC 9110, section 10.2.3).
enum RetryAfter {
  /// The longest delay that is obeyed, in seconds: a notification is of no use after a day.
  static let longestSeconds: Int64 = RetryPolicy.lifetimeMilliseconds / 1000

  /// - Parameter text: seconds, or a date.
  /// - Returns: nil if the text is neither.
  static func delay(_ text: String, at now: Date) -> Duration? {
    let text = text.trimmingCharacters(in: .whitespaces)
    if !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
      return .seconds(min(Int64(text) ?? longestSeconds, longestSeconds))
    }
    let format = DateFormatter()
    format.locale = Locale(identifier: "en_US_POSIX")
    format.timeZone = TimeZone(identifier: "GMT")
    format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
    guard let date = format.date(from: text) else { return nil }
    return .seconds(min(max(Int64(date.timeIntervalSince(now).rounded(.up)), 0), longestSeconds))
  }
}
