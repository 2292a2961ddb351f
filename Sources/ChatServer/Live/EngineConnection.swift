import NIOCore
import SocketProtocols

/// Runs an `EngineSession`: passes in the time and the inputs, and does what the session says. It belongs to the event
/// loop of its `EngineChannel`.
final class EngineConnection {
  typealias Input = (inout EngineSession, Duration) -> [EngineAction]

  /// An input, and what waits for its result.
  private struct Turn {
    let input: Input
    /// Gets the error if the request is refused, otherwise succeeds.
    var request: EventLoopPromise<Void>?
    /// The WebSocket that becomes the session's if it is accepted.
    var socket: EngineSocket?
  }

  private var session: EngineSession
  /// Nil after the session has ended.
  private(set) var application: (any EngineApplication)?
  private var onForget: (() -> Void)?
  /// The GETs that wait, the oldest first. Between two turns there is at most one.
  private var polls: [EventLoopPromise<[UInt8]>] = []
  /// Writers that wait until the client has fetched what was sent. They get the WebSocket, if there is one.
  private var writers: [EventLoopPromise<EngineSocket?>] = []
  private var pauses = 0
  /// POSTs whose responses wait until nobody pauses the session.
  private var pausedPosts: [EventLoopPromise<Void>] = []
  private var socket: EngineSocket?
  /// Inputs that came while actions were performed. They are handled afterwards.
  private var later: [Turn] = []
  private var isPerforming = false
  private let timer: SessionTimer
  /// Limits packets that are neither messages nor events.
  private var packets = FrameBudget(at: NIODeadline.now().uptimeNanosecondsSinceStart)

  /// - Parameters:
  ///   - session: opened now, at the time zero.
  ///   - onForget: called once, when the session is over.
  init(_ session: EngineSession, on eventLoop: any EventLoop, onForget: @escaping () -> Void) {
    self.session = session
    timer = SessionTimer(on: eventLoop)
    self.onForget = onForget
  }

  /// Does the first actions of the session.
  /// - Parameter poll: gets the handshake if the client polls.
  func open(_ actions: [EngineAction], _ application: any EngineApplication, poll: EventLoopPromise<[UInt8]>?) {
    self.application = application
    polls = poll.map { [$0] } ?? []
    take { _, _ in actions }
  }

  func open(_ actions: [EngineAction], _ application: any EngineApplication, socket: EngineSocket) {
    self.application = application
    self.socket = socket
    take { _, _ in actions }
  }

  // MARK: Inputs

  func take(_ request: EventLoopPromise<Void>? = nil, socket: EngineSocket? = nil, _ input: @escaping Input) {
    take(Turn(input: input, request: request, socket: socket))
  }

  private func take(_ turn: Turn) {
    later.append(turn)
    guard !isPerforming else { return }
    isPerforming = true
    while !later.isEmpty {
      let turn = later.removeFirst()
      perform(turn.input(&session, timer.now), turn)
      releaseWriters()
    }
    isPerforming = false
    timer.set(session.deadline) { [self] in
      take { session, now in session.tick(now: now) }
    }
  }

  func poll(_ response: EventLoopPromise<[UInt8]>) {
    take { [self] session, now in
      polls.append(response)
      return session.poll(now: now)
    }
  }

  /// The client has left. If its GET has been answered, this does nothing.
  func cancelPoll(_ response: EventLoopFuture<[UInt8]>) {
    take { [self] session, now in
      guard let index = polls.firstIndex(where: { $0.futureResult === response }) else { return [] }
      polls.remove(at: index).fail(CancellationError())
      return session.pollCancelled(now: now)
    }
  }

  func received(_ message: WebSocketMessage, on socket: EngineSocket) {
    take { [self] session, now in
      guard self.socket === socket else { return [] }
      let actions = session.socketMessage(message, now: now)
      return actions.isEmpty ? count(&session, now) : actions
    }
  }

  /// Counts a packet that is neither a message nor an event. With too many of them, the session ends.
  func countPacket() {
    take { [self] session, now in count(&session, now) }
  }

  private func count(_ session: inout EngineSession, _ now: Duration) -> [EngineAction] {
    let isAdmitted = packets.spend(1, at: NIODeadline.now().uptimeNanosecondsSinceStart)
    return isAdmitted ? [] : session.close(.tooManyPackets, now: now)
  }

  func closed(_ socket: EngineSocket) {
    take { [self] session, now in
      guard self.socket === socket else { return [] }
      self.socket = nil
      return session.socketClosed(now: now)
    }
  }

  // MARK: Back pressure

  func whenWritable(_ writable: EventLoopPromise<EngineSocket?>) {
    writers.append(writable)
    releaseWriters()
  }

  private func releaseWriters() {
    guard application == nil || session.isBufferEmpty, !writers.isEmpty else { return }
    for writer in writers {
      if application == nil { writer.fail(CancellationError()) } else { writer.succeed(socket) }
    }
    writers = []
  }

  func pause() {
    pauses += 1
    if pauses == 1 { socket?.pauseReading() }
  }

  func resume() {
    pauses -= 1
    guard pauses == 0 else { return }
    socket?.resumeReading()
    releasePosts()
  }

  private func releasePosts() {
    for post in pausedPosts { post.succeed() }
    pausedPosts = []
  }

  // MARK: Actions

  private func perform(_ actions: [EngineAction], _ turn: Turn) {
    var turn = turn
    var refusal: EngineError?
    for action in actions {
      switch action {
      case .answerPoll(let body): if !polls.isEmpty { polls.removeFirst().succeed(body) }
      case .refusePoll(let error): polls.popLast()?.fail(error)
      case .answerPost: if pauses > 0, let post = turn.request.take() { pausedPosts.append(post) }
      case .refusePost(let error), .refuseSocket(let error): refusal = error
      case .acceptSocket: socket = turn.socket
      case .write(let message): socket?.send(message)
      case .closeSocket:
        socket?.close(Self.ending(in: actions))
        socket = nil
      case .deliver(let message): application?.received(message)
      case .ended(let ending): end(ending)
      case .forget: forget()
      }
    }
    if let refusal { turn.request?.fail(refusal) } else { turn.request?.succeed() }
    guard onForget == nil else { return }
    for poll in polls { poll.fail(EngineError.unknownSession) }
    polls = []
  }

  /// Why the session ends, if these actions end it.
  private static func ending(in actions: [EngineAction]) -> EngineEnding? {
    for case .ended(let ending) in actions { return ending }
    return nil
  }

  private func end(_ ending: EngineEnding) {
    let application = application
    self.application = nil
    releasePosts()
    application?.ended(ending)
  }

  private func forget() {
    onForget?()
    onForget = nil
  }
}

@available(*, unavailable)
extension EngineConnection: Sendable {}
