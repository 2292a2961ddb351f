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
  func typing(_ typing: StreamTyping)
  func presence(_ presence: StreamPresence)
  func expiring(_ expiring: StreamExpiring)
  /// Returns when little is unsent.
  /// - Throws: `SlowReader` if that takes too long; any other error if the client is gone.
  func untilWritable() async throws
}

/// One stream over a transport of messages (a WebSocket, or a namespace of Socket.IO): it authenticates its client, gives
/// the transport what is new, renews the token and performs commands.
final class MessageStream: Sendable {
  private enum State {
    case beginning
    case open(Caller, LiveSubscription)
    /// The client is gone.
    case cancelled
  }

  let services: StreamServices
  private let port: any StreamPort
  private let origin: CommandOrigin
  let commands: StreamCommands
  private let state = Mutex(State.beginning)

  init(_ services: StreamServices, _ port: any StreamPort, from origin: CommandOrigin) {
    self.services = services
    self.port = port
    self.origin = origin
    commands = StreamCommands(services.responder, from: origin)
  }

  /// Begins the stream.
  /// - Parameter ended: called once when the stream has ended, with what the client is told; nil if it is gone.
  func start(
    _ credentials: Credentials, _ options: SyncOptions, ended: @escaping @Sendable (StreamEnd?) async -> Void
  ) {
    Task {
      do {
        await follow(try await begin(credentials, options), nil, ended)
      } catch {
        await ended(end(error))
      }
    }
  }

  /// What the client is told after an error; nil if it is gone.
  private func end(_ error: any Error) -> StreamEnd? {
    if error is SlowReader { return StreamEnding.tooSlow.end }
    guard !ProblemMapping.isCausedByClient(error) else { return nil }
    let end = StreamEnd(refusing: error)
    if end.code == ProblemCode.internalError.rawValue {
      origin.logger.error("a stream failed", metadata: ["error": "\(LoggedError.text(error))"])
    }
    return end
  }

  private func begin(_ credentials: Credentials, _ options: SyncOptions) async throws -> OpenStream {
    let caller = try await authenticate(credentials)
    let request = try await options.request(services.chat)
    let stream = try services.opening.open(caller, request, at: origin.address, origin.logger)
    try state.withLock { state in
      guard case .beginning = state else { throw CancellationError() }
      state = .open(caller, stream.subscription)
    }
    commands.credentials = credentials
    port.ready(StreamReady(expiresAt: caller.expiresAt))
    return stream
  }

  /// Ends the stream without telling the client. Can be called from any thread.
  func cancel() {
    let before = state.withLock { state in
      defer { state = .cancelled }
      return state
    }
    if case .open(_, let subscription) = before { subscription.cancel() }
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

  /// Sends what there is. Then the task ends, and the next signal begins another one: a task takes many kilobytes even
  /// while it waits, and most streams wait most of the time.
  /// - Parameter held: the budget of the page before, which the client may not have taken yet.
  private func follow(
    _ stream: OpenStream, _ held: KeyedLimit<NetworkAddress?>.Reservation?,
    _ ended: @escaping @Sendable (StreamEnd?) async -> Void
  ) async {
    var (stream, held) = (stream, held)
    do {
      while let frame = try await stream.frames.nextNow() {
        switch frame {
        case .page(let page):
          let json = try await stream.encoder.encode(page).json
          try await untilWritable(stream.subscription)
          held = try stream.hold(json.readableBytes)
          port.page(json)
        case .typing(let notice):
          try await untilWritable(stream.subscription)
          port.typing(StreamTyping(notice))
        case .presence(let notice):
          try await untilWritable(stream.subscription)
          port.presence(StreamPresence(notice))
        case .expiring(let time): port.expiring(StreamExpiring(expiresAt: time))
        // A transport of messages has its own.
        case .heartbeat: break
        case .ended(let ending):
          stream.subscription.cancel()
          return await ended(ending.end)
        }
      }
    } catch {
      stream.subscription.cancel()
      return await ended(end(error))
    }
    let (waiting, unsent) = (stream, held)
    stream.subscription.whenSignalled { Task { await self.follow(waiting, unsent, ended) } }
  }

  /// Returns also when the stream has ended.
  private func untilWritable(_ subscription: LiveSubscription) async throws {
    let waiting = Task { [port] in try await port.untilWritable() }
    subscription.whenEnded { waiting.cancel() }
    defer { subscription.whenEnded(nil) }
    let result = await waiting.result
    if subscription.ending == nil { try result.get() }
  }

  /// Renews the token. It must be of the same user and session.
  /// - Throws: `Refusal` or `ServiceError`. The stream ends with it.
  func renew(_ credentials: Credentials) async throws {
    guard case .open(let before, let subscription) = state.withLock({ $0 }) else { throw Refusal.accessTokenMissing }
    let caller = try await authenticate(credentials)
    guard caller.principal == before.principal else { throw Refusal.accessTokenInvalid }
    commands.credentials = credentials
    subscription.renew(until: caller.expiresAt)
    port.ready(StreamReady(expiresAt: caller.expiresAt))
  }
}
