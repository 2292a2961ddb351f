import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import Synchronization

/// One request and its response. The client calls it on the event loop of the connection, so a response wakes its task
/// only once.
final class ResponseCollector: HTTPClientResponseDelegate {
  typealias Response = ProviderClient.Response

  /// How many bytes of a response's body are read. A longer body is ignored.
  private static let bodyBytes = 64 * 1024

  private struct State {
    var hasBegun = false
    var head: HTTPResponseHead?
    var body = ByteBuffer()
    var bodyTimeout: Scheduled<Void>?
  }

  private struct BodyTooLong: Error {}

  /// How long the body may take after the head; nil for as long as the request may take.
  private let bodyTime: TimeAmount?
  private let state = Mutex(State())

  init(bodyTime: TimeAmount? = nil) { self.bodyTime = bodyTime }

  /// Whether the request had a connection.
  var hasBegun: Bool { state.withLock(\.hasBegun) }

  /// The response if it has a status, although its body was too long, too slow or broke off: the status counts.
  var responseWithoutBody: Response? { state.withLock { $0.head.map { Self.response($0, body: []) } } }

  func didSendRequestHead(task: HTTPClient.Task<Response>, _ head: HTTPRequestHead) {
    state.withLock { $0.hasBegun = true }
  }

  func didReceiveHead(task: HTTPClient.Task<Response>, _ head: HTTPResponseHead) -> EventLoopFuture<Void> {
    let timeout = bodyTime.map { task.eventLoop.scheduleTask(in: $0) { task.cancel() } }
    state.withLock { state in
      state.head = head
      state.bodyTimeout = timeout
    }
    return task.eventLoop.makeSucceededVoidFuture()
  }

  func didReceiveBodyPart(task: HTTPClient.Task<Response>, _ buffer: ByteBuffer) -> EventLoopFuture<Void> {
    let length = state.withLock { state in
      var buffer = buffer
      state.body.writeBuffer(&buffer)
      return state.body.readableBytes
    }
    return length > Self.bodyBytes
      ? task.eventLoop.makeFailedFuture(BodyTooLong()) : task.eventLoop.makeSucceededVoidFuture()
  }

  func didFinishRequest(task: HTTPClient.Task<Response>) throws -> Response {
    try state.withLock { state in
      state.bodyTimeout?.cancel()
      guard let head = state.head else { throw HTTPClientError.remoteConnectionClosed }
      return Self.response(head, body: Array(state.body.readableBytesView))
    }
  }

  func didReceiveError(task: HTTPClient.Task<Response>, _ error: any Error) {
    state.withLock { $0.bodyTimeout?.cancel() }
  }

  private static func response(_ head: HTTPResponseHead, body: [UInt8]) -> Response {
    let retryAfter = head.headers.first(name: "retry-after").flatMap { RetryAfter.delay($0, at: Date()) }
    return Response(status: head.status.code, retryAfter: retryAfter, body: body)
  }
}
