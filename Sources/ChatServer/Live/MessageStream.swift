import ChatDomain
import ChatPrimitives
import ChatProtocol
import ChatService
import Hummingbird
import Logging
import NIOCore
import Synchronization

/// What the streams of all transports of messages need.
struct StreamServices: Sendable {
  let chat: ChatService
  let authenticator: Authenticator
  let limiter: RateLimiter
  let opening: StreamOpening
  /// Handles a command as any other request is handled.
  let responder: any HTTPResponder<ServerContext>
}

/// What a transport of messages sends for its stream.
protocol StreamPort: Sendable {
  /// The stream is open, or its token was renewed.
  func ready(_ ready: StreamReady)
  /// - Parameter json: the object of `GET /v1/sync`.
  func page(_ json: ByteBuffer)
  func expiring(_ expiring: StreamExpiring)
  /// Returns when little is unsent.
  /// - Throws: `SlowReader` if that takes too long; any other error if the client is gone.
  func untilWritable() async throws
}

/// One stream over a transport of messages (a WebSocket, or a namespace of Socket.IO): it authenticates its client, gives
/// the transport what is new, renews the token and performs commands.
final class MessageStream: Sendable {
  private struct Open {
    var caller: Caller
    let subscription: LiveSubscription
  }

  let services: StreamServices
  private let port: any StreamPort
  private let origin: CommandOrigin
  let commands: StreamCommands
  private let open = Mutex<Open?>(nil)

  init(_ services: StreamServices, _ port: any StreamPort, from origin: CommandOrigin) {
    self.services = services
    self.port = port
    self.origin = origin
    commands = StreamCommands(services.responder, from: origin)
  }

  /// Returns when the stream has ended, with what the client is told.
  /// - Throws: if the client is gone.
  func run(_ credentials: Credentials, _ options: SyncOptions) async throws -> StreamEnd {
    do {
      let caller = try await authenticate(credentials)
      let request = try await options.request(services.chat)
      let stream = try services.opening.open(caller, request, at: origin.address, origin.logger)
      open.withLock { $0 = Open(caller: caller, subscription: stream.subscription) }
      commands.credentials = credentials
      port.ready(StreamReady(expiresAt: caller.expiresAt))
      return try await follow(stream)
    } catch is SlowReader {
      return StreamEnding.tooSlow.end
    } catch {
      guard error is Refusal || error is ServiceError, !ProblemMapping.isCausedByClient(error) else { throw error }
      return StreamEnd(refusing: error)
    }
  }

  /// Ends the stream without telling the client. Can be called from any thread.
  func cancel() {
    open.withLock { $0 }?.subscription.cancel()
    commands.close()
  }

  private func authenticate(_ credentials: Credentials) async throws -> Caller {
    let endpoint = Endpoints.syncStream.erased
    guard let caller = try await services.authenticator.caller(credentials, for: endpoint, at: services.chat.now())
    else { throw Refusal.accessTokenMissing }
    try services.authenticator.requireOpenSession(caller.principal)
    _ = try services.limiter.admit(caller.principal, rateStatus: nil)
    return caller
  }

  private func follow(_ stream: OpenStream) async throws -> StreamEnd {
    var stream = stream
    defer { stream.subscription.cancel() }
    // The budget of the page before, which the client may not have taken yet.
    var held: KeyedLimit<NetworkAddress?>.Reservation?
    while true {
      switch try await stream.frames.next() {
      case .page(let page):
        let json = try await stream.encoder.encode(page).json
        try await untilWritable(stream.subscription)
        held = try stream.hold(json.readableBytes)
        port.page(json)
      case .expiring(let time): port.expiring(StreamExpiring(expiresAt: time))
      // A transport of messages has its own.
      case .heartbeat: break
      case .ended(let ending):
        withExtendedLifetime(held) {}
        return ending.end
      }
    }
  }

  /// Returns also when the stream has ended.
  private func untilWritable(_ subscription: LiveSubscription) async throws {
    let waiting = Task { [port] in try await port.untilWritable() }
    subscription.whenEnded { waiting.cancel() }
    defer { subscription.whenEnded(nil) }
    let result = await withTaskCancellationHandler {
      await waiting.result
    } onCancel: {
      waiting.cancel()
    }
    if subscription.ending == nil { try result.get() }
  }

  /// Renews the token. It must be of the same user and session.
  /// - Throws: `Refusal` or `ServiceError`. The stream ends with it.
  func renew(_ credentials: Credentials) async throws {
    guard let before = open.withLock({ $0 }) else { throw Refusal.accessTokenMissing }
    let caller = try await authenticate(credentials)
    guard caller.principal == before.caller.principal else { throw Refusal.accessTokenInvalid }
    open.withLock { $0?.caller = caller }
    commands.credentials = credentials
    before.subscription.renew(until: caller.expiresAt)
    port.ready(StreamReady(expiresAt: caller.expiresAt))
  }
}
