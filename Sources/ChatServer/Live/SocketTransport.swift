import ChatService
import NIOCore
import SocketProtocols

/// Socket.IO over a session of Engine.IO: runs a `SocketSession`, and an application for each of its connections.
final class SocketTransport: EngineApplication {
  private let channel: EngineChannel
  private let makeApplication: @Sendable (SocketConnection) -> any SocketApplication
  private var session: SocketSession
  /// Nil if only the size of unfinished packets is limited.
  private var unfinished: UnfinishedBytes?
  private var applications: [SocketSession.ConnectionID: any SocketApplication] = [:]
  private let timer: SessionTimer
  private var isStopping = false

  /// Called on the event loop of the channel.
  init(
    _ channel: EngineChannel, _ limits: SocketLimits, _ unfinished: UnfinishedBytes?,
    makeApplication: @escaping @Sendable (SocketConnection) -> any SocketApplication
  ) {
    self.channel = channel
    self.unfinished = unfinished
    self.makeApplication = makeApplication
    timer = SessionTimer(on: channel.eventLoop)
    session = SocketSession(limits: limits, now: timer.now)
    setTimer()
  }

  // MARK: The session of Engine.IO

  func received(_ message: EngineMessage) {
    let actions = session.receive(message, now: timer.now)
    do throws(ServiceError) {
      try unfinished?.hold(session.unfinishedBytes, at: timer.now)
    } catch {
      channel.close()
    }
    // The application counts events, each when all of its attachments have arrived.
    if session.unfinishedBytes == 0, !actions.contains(where: \.isEvent) { channel.countPacket() }
    perform(actions)
  }

  func ended(_ ending: EngineEnding) {
    unfinished?.release()
    perform(session.engineEnded())
  }

  func stopping() {
    isStopping = true
    for application in applications.values { application.stopping() }
    closeIfDone()
  }

  // MARK: The applications

  func accept(_ id: SocketSession.ConnectionID) {
    perform(session.accept(id, sid: .random()))
  }

  func refuse(_ id: SocketSession.ConnectionID, _ message: String, detail: [UInt8]?) {
    applications[id] = nil
    perform(session.refuse(id, message, detail: detail))
  }

  func send(_ packets: [WebSocketMessage], to id: SocketSession.ConnectionID) {
    perform(session.send(packets, to: id))
  }

  func acknowledge(_ event: SocketEventID, _ arguments: SocketArguments, to id: SocketSession.ConnectionID) {
    perform(session.acknowledge(event, arguments, to: id))
  }

  /// - Parameter last: packets that are sent before, so that a polling client gets all of them with one response.
  func disconnect(_ id: SocketSession.ConnectionID, _ last: [WebSocketMessage]) {
    applications[id] = nil
    var packets: [WebSocketMessage] = []
    for case .send(let part) in session.send(last, to: id) + session.disconnect(id, now: timer.now) { packets += part }
    perform([.send(packets)])
  }

  // MARK: Actions

  private func perform(_ actions: [SocketSession.Action]) {
    for action in actions {
      switch action {
      case .connect(let id, let namespace, let payload):
        let application = makeApplication(SocketConnection(namespace, id, channel, self))
        applications[id] = application
        application.connect(payload)
      case .event(let id, let arguments, let acknowledgement):
        applications[id]?.received(arguments, acknowledgement)
      case .disconnected(let id): applications.removeValue(forKey: id)?.disconnected()
      case .send(let packets): channel.send(packets)
      case .close: channel.close()
      }
    }
    closeIfDone()
    setTimer()
  }

  private func closeIfDone() {
    if isStopping, applications.isEmpty { channel.close() }
  }

  private func setTimer() {
    let deadlines = [session.deadline, unfinished?.deadline].compactMap(\.self)
    timer.set(deadlines.min()) { [self] in
      if let deadline = unfinished?.deadline, deadline <= timer.now { channel.close() }
      perform(session.tick(now: timer.now))
    }
  }
}

@available(*, unavailable)
extension SocketTransport: Sendable {}

extension SocketSession.Action {
  fileprivate var isEvent: Bool {
    switch self {
    case .event: true
    case .connect, .disconnected, .send, .close: false
    }
  }
}

extension EngineSessionID {
  /// A new ID, from the generator of the system.
  static func random() -> EngineSessionID {
    EngineSessionID(random: .random(in: UInt64.min...UInt64.max), .random(in: UInt64.min...UInt64.max))
  }
}
