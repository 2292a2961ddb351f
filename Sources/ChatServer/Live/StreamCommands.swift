import ChatPrimitives
import ChatProtocol
import ChatService
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import Synchronization

/// Where the commands of a stream come from.
struct CommandOrigin: Sendable {
  /// The connection of the stream.
  let channel: any Channel
  /// The client's address, if it is known.
  let address: NetworkAddress?
  /// The header field of the request with which the stream began, from which the address follows again.
  let forwardedFor: String?
  /// The trace of that request; nil if it had none.
  let trace: TraceContext?
  let logger: Logger
}

/// The response to a command.
struct CommandResponse: Sendable {
  let status: Int
  /// `Retry-After`, `ETag`, `Location` and `Idempotent-Replayed`, if the response has them.
  let headers: [String: String]
  /// JSON; empty if the response has none.
  let body: ByteBuffer

  /// A command that was not performed.
  fileprivate init(refusing mapping: ProblemMapping, _ requestID: RequestID) {
    let problem = mapping.problem(requestID: requestID.description)
    status = mapping.status.code
    headers = Self.headers(mapping.headers)
    body = (try? JSONBody.encode(problem)) ?? ByteBuffer()
  }

  fileprivate init(_ response: Response, body: ByteBuffer) {
    status = response.status.code
    headers = Self.headers(response.headers)
    self.body = body
  }

  private static func headers(_ fields: HTTPFields) -> [String: String] {
    [HTTPField.Name.retryAfter, .eTag, .location, .idempotentReplayed].reduce(into: [:]) { headers, name in
      headers[name.rawName] = fields[name]
    }
  }
}

/// Where the messages of a client come from.
protocol MessageSource: Sendable {
  var eventLoop: any EventLoop { get }
  /// Delivers no further messages until `resumeReading`. Both are called on the event loop, in turn.
  func pauseReading()
  func resumeReading()
}

/// Performs the commands of a stream, each as a request to the same router.
///
/// Commands are decided in the order in which they arrive: each begins when the one before is in the writer's queue or has
/// its response. So many share one write, and the responses can come in another order.
///
/// No message is read while `Limits.commandsInFlight` commands have no response, or while the stream has paused for
/// another reason.
final class StreamCommands: Sendable {
  typealias Completion = @Sendable (CommandResponse) -> Void

  private struct Queued: Sendable {
    let frame: CommandFrame
    let completion: Completion
  }

  private struct State {
    var caller: Caller?
    /// Commands that have no response yet.
    var inFlight = 0
    /// How many in a row were malformed, or rejected by the rate limits.
    var refusedInARow = 0
    /// How often `pause` was called and `resume` was not.
    var pauses = 0
    /// Whether the source was told to pause.
    var isPaused = false
    var isClosed = false
    /// Nil before the first command.
    var queue: AsyncStream<Queued>.Continuation?
    var whenDone: CheckedContinuation<Void, Never>?

    var shouldPause: Bool { !isClosed && (pauses > 0 || inFlight >= Limits.commandsInFlight) }
  }

  private let responder: any HTTPResponder<ServerContext>
  private let limiter: RateLimiter
  private let problems: ProblemLog
  private let origin: CommandOrigin
  private let source: any MessageSource
  private let state = Mutex(State())

  init(
    _ responder: any HTTPResponder<ServerContext>, _ limiter: RateLimiter, _ problems: ProblemLog,
    from origin: CommandOrigin, _ source: any MessageSource
  ) {
    self.responder = responder
    self.limiter = limiter
    self.problems = problems
    self.origin = origin
    self.source = source
  }

  /// Who opened the stream, with the newest token.
  var caller: Caller? {
    get { state.withLock { $0.caller } }
    set { state.withLock { $0.caller = newValue } }
  }

  /// Whether the stream should end, because so many commands in a row were malformed or rejected by the rate limits, or
  /// because so many arrived together.
  var areTooMany: Bool {
    state.withLock { $0.refusedInARow >= Limits.refusedCommandsInARow || $0.inFlight >= Limits.commandsTogether }
  }

  // MARK: Reading

  /// Reads no further message until `resume` was called as often.
  func pause() {
    state.withLock { $0.pauses += 1 }
    updateReading()
  }

  func resume() {
    state.withLock { $0.pauses -= 1 }
    updateReading()
  }

  /// Only the event loop tells the source, so that the source gets the changes in their order.
  private func updateReading() {
    guard source.eventLoop.inEventLoop else { return source.eventLoop.execute { self.updateReading() } }
    let isPaused: Bool? = state.withLock { state in
      guard state.shouldPause != state.isPaused else { return nil }
      state.isPaused.toggle()
      return state.isPaused
    }
    guard let isPaused else { return }
    if isPaused { source.pauseReading() } else { source.resumeReading() }
  }

  // MARK: Commands

  /// Call it on the event loop of the source.
  /// - Parameter completion: called once with the response, unless the commands were closed.
  func perform(_ frame: CommandFrame, completion: @escaping Completion) {
    let first: AsyncStream<Queued>? = state.withLock { state in
      guard !state.isClosed else { return nil }
      state.inFlight += 1
      let command = Queued(frame: frame, completion: completion)
      if let queue = state.queue {
        queue.yield(command)
        return nil
      }
      let (commands, queue) = AsyncStream<Queued>.makeStream()
      queue.yield(command)
      state.queue = queue
      return commands
    }
    updateReading()
    if let first { Task { await begin(first) } }
  }

  /// Takes no more commands. Messages are read, so that the source finds its end.
  func close() {
    state.withLock { state in
      state.isClosed = true
      state.queue?.finish()
    }
    updateReading()
  }

  /// Takes no more commands, and returns when those in flight have their responses, or after a time.
  func drain(_ timeout: Duration = .seconds(Limits.commandDrainSeconds)) async {
    close()
    let timer = Task {
      try await Task.sleep(for: timeout)
      self.stopWaiting()
    }
    defer { timer.cancel() }
    await withCheckedContinuation { continuation in
      let isDone = state.withLock { state in
        if state.inFlight == 0 { return true }
        state.whenDone = continuation
        return false
      }
      if isDone { continuation.resume() }
    }
  }

  private func stopWaiting() {
    let waiter = state.withLock { state in
      defer { state.whenDone = nil }
      return state.whenDone
    }
    waiter?.resume()
  }

  /// Begins the commands, one after the other, until they are closed.
  private func begin(_ commands: AsyncStream<Queued>) async {
    for await command in commands {
      let turn = CommandTurn()
      Task {
        let response = await respond(to: command.frame, turn)
        turn.pass()
        complete(command, response)
      }
      await turn.passed()
    }
  }

  private func complete(_ command: Queued, _ response: CommandResponse) {
    // Its response counts as sent before the stream can end.
    command.completion(response)
    let (isDone, isPaused) = state.withLock { state in
      state.inFlight -= 1
      return (state.inFlight == 0, state.isPaused)
    }
    if isPaused { updateReading() }
    if isDone { stopWaiting() }
  }

  // MARK: One command

  private func respond(to frame: CommandFrame, _ turn: CommandTurn) async -> CommandResponse {
    let request: Request
    do {
      request = try CommandRequest(frame, caller?.credentials, forwardedFor: origin.forwardedFor).request
    } catch {
      return refuse(error)
    }
    let response = await respond(to: request, turn)
    count(isRefused: response.status == HTTPResponse.Status.tooManyRequests.code)
    return response
  }

  private func respond(to request: Request, _ turn: CommandTurn) async -> CommandResponse {
    do {
      let context = ServerContext(on: origin.channel, client: origin.address, origin.logger, trace: origin.trace)
      let response = try await CommandTurn.$current.withValue(turn) {
        try await responder.respond(to: request, context: context)
      }
      return CommandResponse(response, body: try await response.body.collected())
    } catch {
      return self.response(to: error)
    }
  }

  /// Responds to a command that cannot be turned into a request. It counts as a request nevertheless.
  func refuse(_ error: any Error) -> CommandResponse {
    count(isRefused: true)
    var reason = error
    do throws(Refusal) {
      if let caller { try limiter.admitMessage(of: caller.principal, at: origin.address) }
    } catch {
      reason = error
    }
    return response(to: reason)
  }

  /// The problem of a message that did not become a request. It has an ID of its own, which the server's log has too.
  func response(to error: any Error) -> CommandResponse {
    let (mapping, requestID) = (ProblemMapping(error), RequestID())
    problems.note(
      mapping, of: error, route: "a message of a stream", from: origin.address, requestID: requestID, to: origin.logger)
    return CommandResponse(refusing: mapping, requestID)
  }

  private func count(isRefused: Bool) {
    state.withLock { $0.refusedInARow = isRefused ? $0.refusedInARow + 1 : 0 }
  }
}
