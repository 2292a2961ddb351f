import ChatPrimitives
import ChatProtocol
import ChatService
import HTTPTypes
import Hummingbird
import NIOCore

/// A stream as server-sent events.
struct EventStreamResponse: Sendable {
  let stream: OpenStream
  /// The connection, or the HTTP/2 stream, of the request.
  let channel: any Channel

  /// Whether the connection ends with the stream, so that no task has to wait for the next request.
  private var endsConnection: Bool { channel is DetachableChannel }

  var response: Response {
    var headers: HTTPFields = [.contentType: "text/event-stream", .cacheControl: "no-store"]
    // Otherwise nginx would collect events before it passes them on.
    headers[.accelBuffering] = "no"
    if endsConnection { headers[.connection] = "close" }
    return Response(status: .ok, headers: headers, body: ResponseBody { writer in try await write(to: writer) })
  }

  /// Throws at once if the connection ends with the stream. Otherwise a task waits.
  private func write(to writer: any ResponseBodyWriter) async throws {
    var writer = writer
    let subscription = stream.subscription
    channel.whenClientGone { subscription.cancel() }
    let port: EventStreamPort
    do {
      // Tells the client that the stream is open, because nothing else may come for long.
      try await writer.write(EventStreamPort.comment("open"))
      port = try await EventStreamPort.open(on: channel)
    } catch {
      subscription.cancel()
      throw error
    }
    guard !endsConnection else {
      follow(port) { port.finish($0) }
      // The task of the connection ends with this error. Otherwise it would serve requests that were sent behind this one.
      throw ConnectionDetached()
    }
    let end = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        follow(port) { continuation.resume(returning: $0) }
      }
    } onCancel: {
      subscription.cancel()
    }
    port.leave()
    guard let end else { throw CancellationError() }
    try await writer.write(try EventStreamPort.event(end))
    try await writer.finish(nil)
  }

  private func follow(_ port: EventStreamPort, ended: @escaping @Sendable (StreamEnd?) async -> Void) {
    let follower = StreamFollower(port: port, logger: stream.logger, ended: ended)
    Task { await follower.start(stream) }
  }
}

extension HTTPField.Name {
  static let lastEventID = own("Last-Event-ID")
  fileprivate static let accelBuffering = own("X-Accel-Buffering")
}

/// The rest of the response is written without Hummingbird.
private struct ConnectionDetached: Error {}
