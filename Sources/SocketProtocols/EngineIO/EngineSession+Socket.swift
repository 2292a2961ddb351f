extension EngineSession {
  /// A WebSocket with the ID of this session arrived. Only a polling session takes one, and only one at a time.
  package mutating func socketOpened(now: Duration) -> [EngineAction] {
    let due = tick(now: now)
    switch state {
    case .polling:
      state = .probing(isProbed: false, until: now + limits.upgradeTimeout)
      return due + [.acceptSocket]
    case .probing, .socket: return due + [.refuseSocket(.badRequest)]
    case .draining, .ended: return due + [.refuseSocket(.unknownSession)]
    }
  }

  package mutating func socketMessage(_ message: WebSocketMessage, now: Duration) -> [EngineAction] {
    let due = tick(now: now)
    switch state {
    case .probing(let isProbed, let until):
      return due + probe(try? EnginePacket(parsing: message), isProbed: isProbed, until: until)
    case .socket: return due + receive(message, now)
    case .polling, .draining, .ended: return due
    }
  }

  /// The session's WebSocket was closed by the client, or was lost.
  package mutating func socketClosed(now: Duration) -> [EngineAction] {
    let due = tick(now: now)
    switch state {
    case .probing:
      state = .polling
      return due
    case .socket:
      leave()
      return due + [.ended(.socketClosed), .forget]
    case .polling, .draining, .ended: return due
    }
  }

  /// The messages of an upgrade: `2probe`, then `5`. After anything else the client keeps polling.
  private mutating func probe(_ packet: EnginePacket?, isProbed: Bool, until: Duration) -> [EngineAction] {
    switch (packet, isProbed) {
    case (.ping(EnginePacket.probe), false):
      state = .probing(isProbed: true, until: until)
      return [.write(EnginePacket.pong(EnginePacket.probe).encoded)] + releasePollOfUpgrade()
    case (.upgrade, true):
      state = .socket
      let waiting = buffer
      (buffer, bufferedBytes) = ([], 0)
      return waiting.map { .write($0.packet) }
    case (.ping, _), (.upgrade, _), (.open, _), (.close, _), (.pong, _), (.message, _), (.noop, _), (nil, _):
      return abandonUpgrade()
    }
  }

  private mutating func receive(_ message: WebSocketMessage, _ now: Duration) -> [EngineAction] {
    guard message.bytes.count <= limits.maxPayload else { return end(.malformed(.payloadTooLarge)) }
    do {
      let packet = try EnginePacket(parsing: message)
      try checkDirection(packet)
      switch packet {
      case .message(let message): return [.deliver(message)]
      case .pong:
        heartbeat.pong(now: now)
        return []
      case .close: return end(.closedByClient)
      case .open, .ping, .upgrade, .noop: return []
      }
    } catch {
      return end(.malformed(error))
    }
  }
}
