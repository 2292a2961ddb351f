import SocketProtocols

private let limits = EngineLimits(
  pingInterval: .seconds(25), pingTimeout: .seconds(20), maxPayload: 1024, packetsPerPost: 8, packetsPerPoll: 4,
  bufferBytes: 256, upgradeTimeout: .seconds(10), closeTimeout: .seconds(30))

/// Tries a payload of Engine.IO packets, and a session. The input: a payload; the same bytes are requests of a session.
func fuzzEnginePackets(_ input: [UInt8]) {
  if let packets = try? EnginePayload.decode(input, maximumBytes: limits.maxPayload, maximumPackets: 8) {
    demand((1...8).contains(packets.count) && input.count <= limits.maxPayload, "a payload is within its limits")
    demand(EnginePayload.encode(packets.map(\.encoded)) == input, "a payload that parses encodes to the same bytes")
    for packet in packets {
      demand((try? EnginePacket(parsing: packet.encoded)) == packet, "a packet survives a WebSocket")
    }
  }
  var run = SessionRun(input)
  while !run.input.rest.isEmpty { run.step() }
}

/// Requests of one session. Each is one byte, and for some a length and that many bytes.
private struct SessionRun {
  var input: InputBytes
  private var session: EngineSession
  private var now = Duration.zero
  private var pendingPolls = 0
  private var hasSocket: Bool
  private var hasEnded = false
  private var isForgotten = false

  init(_ input: [UInt8]) {
    self.input = InputBytes(input)
    hasSocket = self.input.byte() & 1 == 1
    let opened = EngineSession.open(
      id: EngineSessionID(random: 0, 0), transport: hasSocket ? .websocket : .polling, limits: limits, now: .zero)
    session = opened.session
  }

  mutating func step() {
    switch input.byte() % 12 {
    case 0, 1:
      pendingPolls += 1
      apply(session.poll(now: now))
    case 2:
      if pendingPolls > 0 {
        pendingPolls = 0
        apply(session.pollCancelled(now: now))
      }
    case 3: apply(session.post(now: now))
    case 4: apply(session.postBody(text(), now: now))
    case 5: apply(session.postCancelled(now: now))
    case 6: apply(session.socketOpened(now: now))
    case 7: if hasSocket { apply(session.socketMessage(.text(text()), now: now)) }
    case 8:
      if hasSocket {
        hasSocket = false
        apply(session.socketClosed(now: now))
      }
    case 9: apply(session.send([EnginePacket.message(.binary(text())).encoded], now: now))
    case 10: apply(session.close(now: now))
    default:
      now += .seconds(Int(input.byte() % 32))
      apply(session.tick(now: now))
    }
    demand((session.deadline == nil) == isForgotten, "a session that is kept has a deadline")
    demand(session.isOpen != hasEnded, "a session ends when it says so")
    demand(pendingPolls <= 1, "one GET can be pending")
  }

  private mutating func text() -> [UInt8] { input.take(Int(input.byte())) }

  private mutating func apply(_ actions: [EngineAction]) {
    for action in actions {
      switch action {
      case .answerPoll, .refusePoll: pendingPolls -= 1
      case .acceptSocket: hasSocket = true
      case .write: demand(hasSocket, "only a WebSocket is written to")
      case .closeSocket:
        demand(hasSocket, "only a WebSocket is closed")
        hasSocket = false
      case .deliver: demand(!hasEnded, "nothing is delivered after the end")
      case .ended:
        demand(!hasEnded, "a session ends once")
        hasEnded = true
      case .forget:
        demand(hasEnded && !isForgotten, "a session is forgotten once, after its end")
        isForgotten = true
      case .answerPost, .refusePost, .refuseSocket: break
      }
    }
    demand(pendingPolls >= 0, "a GET gets one response")
  }
}
