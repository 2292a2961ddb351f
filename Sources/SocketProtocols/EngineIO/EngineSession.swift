/// A session of Engine.IO, protocol 4, on the server: polling, WebSocket, the upgrade from one to the other, and pings.
///
/// It has no clock and no connections: each input brings the time, counted from any fixed origin, and returns what the
/// caller does. Each input first does what is due at that time, so that the result does not depend on when `tick` runs.
package struct EngineSession: Sendable {
  enum State {
    /// Packets wait for a GET.
    case polling
    /// As `polling`, and a WebSocket is being tested. `isProbed`: the ping `probe` has been answered.
    case probing(isProbed: Bool, until: Duration)
    case socket
    /// The session has ended, and a polling client can fetch the rest.
    case draining(until: Duration)
    case ended
  }

  /// A packet for a polling client.
  struct Waiting {
    let packet: WebSocketMessage
    /// How many bytes of the buffer it takes.
    let cost: Int
  }

  package let id: EngineSessionID
  let limits: EngineLimits
  var state: State
  var heartbeat: EngineHeartbeat
  /// Packets for a polling client.
  var buffer: [Waiting] = []
  /// The bytes in the buffer that count.
  var bufferedBytes = 0
  /// Whether a GET waits for packets. Then the buffer is empty.
  var isPollPending = false
  /// Whether the body of a POST is being read.
  var isPostPending = false

  private init(id: EngineSessionID, transport: EngineTransport, limits: EngineLimits, now: Duration) {
    self.id = id
    self.limits = limits
    heartbeat = EngineHeartbeat(interval: limits.pingInterval, timeout: limits.pingTimeout, now: now)
    switch transport {
    case .polling: state = .polling
    case .websocket: state = .socket
    }
  }

  /// Opens a session for a GET without a session ID, or for a WebSocket that was accepted. The actions send the handshake.
  package static func open(
    id: EngineSessionID, transport: EngineTransport, limits: EngineLimits, now: Duration
  ) -> (session: EngineSession, actions: [EngineAction]) {
    let session = EngineSession(id: id, transport: transport, limits: limits, now: now)
    let packet = session.openPacket(transport)
    switch transport {
    case .polling: return (session, [.answerPoll(EnginePayload.encode([packet]))])
    case .websocket: return (session, [.write(packet)])
    }
  }

  private func openPacket(_ transport: EngineTransport) -> WebSocketMessage {
    let upgrades = transport == .polling ? "\"\(EngineTransport.websocket.rawValue)\"" : ""
    // The characters of an ID need no escapes.
    let json =
      "{\"sid\":\"\(id.text)\",\"upgrades\":[\(upgrades)],\"pingInterval\":\(Self.milliseconds(limits.pingInterval)),"
      + "\"pingTimeout\":\(Self.milliseconds(limits.pingTimeout)),\"maxPayload\":\(limits.maxPayload)}"
    return EnginePacket.open(Array(json.utf8)).encoded
  }

  private static func milliseconds(_ duration: Duration) -> Int64 { Int64(duration / .milliseconds(1)) }

  /// Whether the application can still send.
  package var isOpen: Bool {
    switch state {
    case .polling, .probing, .socket: true
    case .draining, .ended: false
    }
  }

  /// The time of the next `tick` that does something; nil if there is none.
  package var deadline: Duration? {
    switch state {
    case .polling, .socket: heartbeat.deadline
    case .probing(_, let until): min(heartbeat.deadline, until)
    case .draining(let until): until
    case .ended: nil
    }
  }

  package mutating func tick(now: Duration) -> [EngineAction] {
    switch state {
    case .probing(_, let until) where now >= until: return abandonUpgrade() + tickHeartbeat(now)
    case .polling, .probing, .socket: return tickHeartbeat(now)
    case .draining(let until):
      guard now >= until else { return [] }
      state = .ended
      return [.forget]
    case .ended: return []
    }
  }

  private mutating func tickHeartbeat(_ now: Duration) -> [EngineAction] {
    switch heartbeat.tick(now: now, isReachable: isReachable) {
    case .nothing: []
    // A ping does not count: there is only one, and the client may still fetch what fills the buffer.
    case .ping: enqueue([Waiting(packet: EnginePacket.ping([]).encoded, cost: 0)])
    case .timeout: end(.pingTimeout)
    }
  }

  /// Whether a packet gets to the client at once.
  private var isReachable: Bool {
    switch state {
    case .socket: true
    case .polling, .probing: isPollPending
    case .draining, .ended: false
    }
  }

  // MARK: The application

  /// - Parameter packets: encoded message packets. If they do not fit into the buffer, the session ends.
  package mutating func send(_ packets: [WebSocketMessage], now: Duration) -> [EngineAction] {
    let due = tick(now: now)
    return isOpen ? due + enqueue(packets.map { Waiting(packet: $0, cost: EnginePayload.bytes(of: $0)) }) : due
  }

  /// Whether nothing waits for a polling client.
  package var isBufferEmpty: Bool { buffer.isEmpty }

  /// Sends packets of any length, which do not count. Call it only while `isBufferEmpty`, so that no more than those of
  /// one call wait.
  package mutating func sendUncounted(_ packets: [WebSocketMessage], now: Duration) -> [EngineAction] {
    let due = tick(now: now)
    return isOpen ? due + enqueue(packets.map { Waiting(packet: $0, cost: 0) }) : due
  }

  package mutating func close(_ reason: EngineEnding = .closedByServer, now: Duration) -> [EngineAction] {
    let due = tick(now: now)
    switch state {
    case .polling: return due + drain(last: .close, reason, now)
    case .probing: return due + abandonUpgrade() + drain(last: .close, reason, now)
    case .socket: return due + end(reason)
    case .draining, .ended: return due
    }
  }

  // MARK: Steps

  /// Sends packets on the current transport.
  private mutating func enqueue(_ packets: [Waiting]) -> [EngineAction] {
    if case .socket = state { return packets.map { .write($0.packet) } }
    let bytes = packets.reduce(0) { $0 + $1.cost }
    guard bytes <= limits.bufferBytes - bufferedBytes else { return end(.bufferFull) }
    bufferedBytes += bytes
    buffer.append(contentsOf: packets)
    return flush()
  }

  /// Responds to the pending GET if there are packets.
  mutating func flush() -> [EngineAction] {
    guard isPollPending, !buffer.isEmpty else { return [] }
    isPollPending = false
    let sent = buffer.prefix(limits.packetsPerPoll)
    buffer.removeFirst(sent.count)
    bufferedBytes -= sent.reduce(0) { $0 + $1.cost }
    return [.answerPoll(EnginePayload.encode(sent.map(\.packet)))]
  }

  /// Ends the session for the application, and lets a polling client fetch the rest and the last packet.
  mutating func drain(last: EnginePacket, _ reason: EngineEnding, _ now: Duration) -> [EngineAction] {
    buffer.append(Waiting(packet: last.encoded, cost: 0))
    state = .draining(until: now + limits.closeTimeout)
    return flush() + [.ended(reason)] + forgetIfDrained()
  }

  mutating func forgetIfDrained() -> [EngineAction] {
    guard case .draining = state, buffer.isEmpty else { return [] }
    state = .ended
    return [.forget]
  }

  /// Ends the session at once. A pending GET gets a close packet.
  mutating func end(_ reason: EngineEnding) -> [EngineAction] {
    var actions: [EngineAction] = []
    if isPollPending { actions.append(.answerPoll(EnginePayload.encode([EnginePacket.close.encoded]))) }
    switch state {
    case .probing, .socket: actions.append(.closeSocket)
    case .polling, .draining, .ended: break
    }
    leave()
    return actions + [.ended(reason), .forget]
  }

  mutating func leave() {
    state = .ended
    (buffer, bufferedBytes) = ([], 0)
    (isPollPending, isPostPending) = (false, false)
  }

  /// Closes the WebSocket that was being tested. The session goes on polling.
  mutating func abandonUpgrade() -> [EngineAction] {
    state = .polling
    return [.closeSocket]
  }
}
