extension EngineSession {
  /// A GET of the session. It waits until there are packets.
  package mutating func poll(now: Duration) -> [EngineAction] {
    let due = tick(now: now)
    switch state {
    case .polling, .probing:
      guard !isPollPending else { return due + end(.duplicatePoll) + [.refusePoll(.badRequest)] }
      isPollPending = true
      return due + (buffer.isEmpty ? releasePollOfUpgrade() : flush())
    case .draining:
      isPollPending = true
      return due + flush() + forgetIfDrained()
    case .socket: return due + [.refusePoll(.badRequest)]
    case .ended: return due + [.refusePoll(.unknownSession)]
    }
  }

  /// The client left while its GET was pending.
  package mutating func pollCancelled(now: Duration) -> [EngineAction] {
    let due = tick(now: now)
    guard isPollPending else { return due }
    isPollPending = false
    return due + end(.requestCancelled)
  }

  /// The head of a POST arrived. If nothing refuses it, its body is read and passed to `postBody`.
  package mutating func post(now: Duration) -> [EngineAction] {
    let due = tick(now: now)
    switch state {
    case .polling, .probing:
      guard !isPostPending else { return due + end(.duplicatePost) + [.refusePost(.badRequest)] }
      isPostPending = true
      return due
    case .socket: return due + [.refusePost(.badRequest)]
    case .draining, .ended: return due + [.refusePost(.unknownSession)]
    }
  }

  /// - Parameter body: whole. If a packet in it is malformed, none is delivered.
  package mutating func postBody(_ body: [UInt8], now: Duration) -> [EngineAction] {
    let due = tick(now: now)
    if let refusal = postRefusal { return due + [.refusePost(refusal)] }
    isPostPending = false
    do {
      let packets = try EnginePayload.decode(
        body, maximumBytes: limits.maxPayload, maximumPackets: limits.packetsPerPost)
      for packet in packets { try checkDirection(packet) }
      return due + receive(packets, now) + [.answerPost]
    } catch {
      return due + end(.malformed(error)) + [.refusePost(.badRequest)]
    }
  }

  /// The body of a POST has more than `maxPayload` bytes, so it was not read to its end.
  package mutating func postTooLarge(now: Duration) -> [EngineAction] {
    let due = tick(now: now)
    if let refusal = postRefusal { return due + [.refusePost(refusal)] }
    return due + end(.malformed(.payloadTooLarge)) + [.refusePost(.badRequest)]
  }

  /// Why the body of a POST is not taken any more; nil if it is.
  private var postRefusal: EngineError? {
    switch state {
    case .polling, .probing: nil
    // The client upgraded within its own POST, so the order of its messages is not known.
    case .socket: .badRequest
    case .draining, .ended: .unknownSession
    }
  }

  /// The client left within a POST.
  package mutating func postCancelled(now: Duration) -> [EngineAction] {
    let due = tick(now: now)
    guard isPostPending, isOpen else { return due }
    isPostPending = false
    if case .socket = state { return due }
    return due + end(.requestCancelled)
  }

  /// Finds packets that no client may send outside an upgrade.
  func checkDirection(_ packet: EnginePacket) throws(EnginePacketError) {
    switch packet {
    case .message, .pong, .close, .noop: break
    case .open, .ping, .upgrade: throw .unexpectedPacket
    }
  }

  private mutating func receive(_ packets: [EnginePacket], _ now: Duration) -> [EngineAction] {
    var actions: [EngineAction] = []
    for packet in packets {
      switch packet {
      case .message(let message): actions.append(.deliver(message))
      case .pong: heartbeat.pong(now: now)
      case .close: return actions + closedByClient(now)
      case .open, .ping, .upgrade, .noop: break
      }
    }
    return actions
  }

  /// The client's pending GET ends with a noop packet. The GET and the POST with the close packet come on two
  /// connections: if the GET comes later, it gets the same.
  private mutating func closedByClient(_ now: Duration) -> [EngineAction] {
    var actions: [EngineAction] = []
    if case .probing = state { actions += abandonUpgrade() }
    (buffer, bufferedBytes) = ([], 0)
    return actions + drain(last: .noop, .closedByClient, now)
  }

  /// Ends a pending GET with a noop packet, so that the client can finish its upgrade.
  mutating func releasePollOfUpgrade() -> [EngineAction] {
    guard case .probing(isProbed: true, _) = state, isPollPending else { return [] }
    isPollPending = false
    return [.answerPoll(EnginePayload.encode([EnginePacket.noop.encoded]))]
  }
}
