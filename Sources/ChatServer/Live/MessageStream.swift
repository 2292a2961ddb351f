import ChatDomain
import ChatPrimitives
import ChatProtocol
import ChatService
import Hummingbird
import Logging
import NIOCore
import Synchronization

/// The services that streams over WebSocket and Socket.IO need.
struct StreamServices: Sendable {
  let chat: ChatService
  let authenticator: Authenticator
  let limiter: RateLimiter
  let opening: StreamOpening
  let unfinished: UnfinishedLimits
  /// Handles a command as any other request is handled.
  let responder: any HTTPResponder<ServerContext>
  let problems: ProblemLog
}

/// What WebSocket and Socket.IO send for a stream, besides what all transports send.
protocol MessagePort: StreamPort, MessageSource {
  /// The stream is open.
  func ready(_ ready: StreamReady)
  /// Tells the client why the stream ends, or was not opened. Nothing is sent afterwards.
  func finish(_ end: StreamEnd)
}

/// One stream over a WebSocket or a namespace of Socket.IO: it authenticates its client, passes frames to the transport,
/// renews the token and performs commands. Its methods can be called from any thread, unless their comments say otherwise.
final class MessageStream: Sendable {
  private enum State {
    case beginning
    case open(Caller, LiveSubscription)
    case ended
  }

  let services: StreamServices
  private let port: any MessagePort
  private let origin: CommandOrigin
  private let commands: StreamCommands
  private let state = Mutex(State.beginning)

  init(_ services: StreamServices, _ port: any MessagePort, from origin: CommandOrigin) {
    self.services = services
    self.port = port
    self.origin = origin
    commands = StreamCommands(services.responder, services.limiter, services.problems, from: origin, port)
  }

  // MARK: Beginning and end

  /// Begins the stream. The client's next messages are read once it is open.
  func start(_ credentials: Credentials, _ options: SyncOptions) {
    commands.pause()
    Task {
      let follower = StreamFollower(port: port, logger: origin.logger) { await self.finish($0) }
      do {
        let stream = try await begin(credentials, options)
        commands.resume()
        await follower.start(stream)
      } catch {
        await finish(follower.end(error))
      }
    }
  }

  private func begin(_ credentials: Credentials, _ options: SyncOptions) async throws -> OpenStream {
    let caller = try await authenticate(credentials)
    let request = try await options.request(services.chat)
    let stream = try services.opening.open(caller, request, at: origin.address, origin.logger)
    try state.withLock { state in
      guard case .beginning = state else { throw CancellationError() }
      state = .open(caller, stream.subscription)
    }
    commands.caller = caller
    port.ready(StreamReady(expiresAt: caller.expiresAt))
    return stream
  }

  var isEnded: Bool {
    if case .ended = state.withLock({ $0 }) { return true }
    return false
  }

  /// Ends the stream without telling the client.
  /// - Returns: false if it had ended before.
  @discardableResult
  func cancel() -> Bool {
    let before = state.withLock { state in
      defer { state = .ended }
      return state
    }
    commands.close()
    switch before {
    case .beginning: return true
    case .open(_, let subscription):
      subscription.cancel()
      return true
    case .ended: return false
    }
  }

  /// Ends the stream because of what its client is or did.
  func end(refusing error: any Error) { end(StreamEnd(refusing: error)) }

  private func end(_ end: StreamEnd) {
    if cancel() { port.finish(end) }
  }

  /// Ends the stream after the commands in flight have their responses.
  /// - Parameter end: nil if the client is gone.
  private func finish(_ end: StreamEnd?) async {
    await commands.drain()
    if let end { self.end(end) } else { cancel() }
  }

  /// Counts a token that is about to be checked as a request of the client's address. The first token of a WebSocket is
  /// not counted again, because its handshake was.
  func admit(_ credentials: Credentials) throws(Refusal) {
    guard let address = origin.address,
      services.limiter.countsServices || !services.authenticator.isOfService(credentials)
    else { return }
    _ = try services.limiter.admit(address)
  }

  private func authenticate(_ credentials: Credentials) async throws -> Caller {
    let endpoint = Endpoints.syncStream.erased
    guard let caller = try await services.authenticator.caller(credentials, for: endpoint, at: services.chat.now())
    else { throw Refusal.accessTokenMissing }
    try services.authenticator.requireOpenSession(caller.principal)
    _ = try services.limiter.admit(caller.principal, rateStatus: nil)
    return caller
  }

  // MARK: Messages of the client

  /// Call it on the event loop of the port.
  func perform(_ frame: CommandFrame, completion: @escaping StreamCommands.Completion) {
    guard !commands.areTooMany else { return end(refusing: Refusal.tooManyCommands) }
    commands.perform(frame) { [self] in complete($0, completion) }
  }

  /// Responds to a message that cannot be performed as a command.
  func refuse(_ error: any Error, completion: StreamCommands.Completion) {
    complete(commands.refuse(error), completion)
  }

  /// The problem of a message that is not a command.
  func response(to error: any Error) -> CommandResponse { commands.response(to: error) }

  private func complete(_ response: CommandResponse, _ completion: StreamCommands.Completion) {
    completion(response)
    if commands.areTooMany { end(refusing: Refusal.tooManyCommands) }
  }

  /// Renews the token. It must be of the same user and session, otherwise the stream ends. The client's next messages are
  /// read afterwards, so only one token of a client is checked at a time.
  /// - Parameter completion: called once, before the stream ends.
  /// - Throws: `Refusal` if the message asks for something else too.
  func renew(
    _ frame: AuthenticateFrame, completion: @escaping @Sendable (Result<StreamReady, any Error>) -> Void
  ) throws {
    let credentials = try frame.credentials
    guard frame.hasOnlyToken else { throw Refusal.invalidField("A message that renews the token has only that.") }
    commands.pause()
    Task {
      do {
        completion(.success(try await renew(credentials)))
      } catch {
        completion(.failure(error))
        end(refusing: error)
      }
      commands.resume()
    }
  }

  private func renew(_ credentials: Credentials) async throws -> StreamReady {
    guard case .open(let before, let subscription) = state.withLock({ $0 }) else { throw Refusal.accessTokenMissing }
    try admit(credentials)
    let caller = try await authenticate(credentials)
    guard caller.principal == before.principal else { throw Refusal.accessTokenInvalid }
    commands.caller = caller
    subscription.renew(until: caller.expiresAt)
    return StreamReady(expiresAt: caller.expiresAt)
  }
}
