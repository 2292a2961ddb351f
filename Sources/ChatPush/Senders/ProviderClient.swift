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
  /// How many bytes of a response's body are read. Longer bodies are ignored.
  private static let bodyBytes = 64 * 1024
  /// How long an attempt waits for the body after the status, in milliseconds. A slow body must not occupy a slot.
  private static let bodyMilliseconds: Int64 = 1000
  /// The connections to a host that only offers HTTP/1.1.
  private static let http1Connections = 8

  private let client: HTTPClient

  init(_ tls: TLSConfiguration) {
    var configuration = HTTPClient.Configuration(
      tlsConfiguration: tls, redirectConfiguration: .disallow,
      timeout: HTTPClient.Configuration.Timeout(
        connect: .seconds(Self.timeoutSeconds), read: .seconds(Self.timeoutSeconds)))
    configuration.connectionPool.idleTimeout = .seconds(Self.idleSeconds)
    configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = Self.http1Connections
    // A failed connection is reported at once. The provider is then paused, and no attempt waits for a connection.
    configuration.connectionPool.retryConnectionEstablishment = false
    configuration.http1_1ConnectionDebugInitializer = { InformationalResponseLimit.add(to: $0) }
    client = HTTPClient(eventLoopGroupProvider: .shared(PushEventLoop.group), configuration: configuration)
  }

  struct Response: Sendable {
    var status: UInt
    var retryAfter: Duration?
    /// Empty if it was too long or too slow.
    var body: [UInt8]
  }

  /// Posts a body.
  /// - Throws: `ProviderUnreachable` if there is no connection, or another error if the request failed.
  func post(_ url: String, _ headers: HTTPHeaders, _ body: [UInt8]) async throws -> Response {
    let watched = WatchedBody(body)
    var request = HTTPClientRequest(url: url)
    request.method = .POST
    request.headers = headers
    request.body = .stream(watched, length: .known(Int64(body.count)))
    do {
      let response = try await client.execute(request, timeout: .seconds(Self.timeoutSeconds))
      let retryAfter = response.headers.first(name: "retry-after").flatMap { RetryAfter.delay($0, at: Date()) }
      return Response(status: response.status.code, retryAfter: retryAfter, body: await Self.read(response.body))
    } catch {
      guard !watched.wasRequested, !Self.isOfOneRequest(error) else { throw error }
      throw ProviderUnreachable(reason: "\(error)")
    }
  }

  private static func read(_ body: HTTPClientResponse.Body) async -> [UInt8] {
    await withTaskGroup(of: [UInt8]?.self) { group in
      group.addTask { (try? await body.collect(upTo: bodyBytes)).map { Array($0.readableBytesView) } }
      group.addTask {
        try? await Task.sleep(for: .milliseconds(bodyMilliseconds))
        return nil
      }
      defer { group.cancelAll() }
      guard let found = await group.next() else { return [] }
      return found ?? []
    }
  }

  /// Whether an error concerns only one request that got no connection: it waited too long, or was cancelled. It does
  /// not show that the provider cannot be reached.
  private static func isOfOneRequest(_ error: any Error) -> Bool {
    (error as? HTTPClientError).map { [.deadlineExceeded, .cancelled].contains($0) } ?? (error is CancellationError)
  }

  func close() async { try? await client.shutdown() }
}

/// A body that records whether the client read it. The client reads it once the request has a connection.
private final class WatchedBody: AsyncSequence, Sendable {
  let content: ByteBuffer
  private let state = Atomic(false)

  init(_ bytes: [UInt8]) { content = ByteBuffer(bytes: bytes) }

  var wasRequested: Bool { state.load(ordering: .relaxed) }

  struct Iterator: AsyncIteratorProtocol {
    fileprivate let body: WatchedBody
    fileprivate var isAtEnd = false

    mutating func next() async -> ByteBuffer? {
      body.state.store(true, ordering: .relaxed)
      defer { isAtEnd = true }
      return isAtEnd ? nil : body.content
    }
  }

  func makeAsyncIterator() -> Iterator { Iterator(body: self) }
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
