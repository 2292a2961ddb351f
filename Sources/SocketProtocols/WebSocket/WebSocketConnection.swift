/// The server's side of a WebSocket connection above the frame codec: messages, pings, silence and the closing handshake
/// (RFC 6455, section 7). It has no clock: each input brings the time, counted from any fixed origin.
package struct WebSocketConnection: Sendable {
  package struct Limits: Equatable, Sendable {
    package var messages: WebSocketMessages.Limits
    /// A ping is sent this often; nil if a protocol above has its own.
    package var pingInterval: Duration?
    /// A client that sends no frame for this long is gone; nil if a protocol above decides that.
    package var silence: Duration?
    /// How long the server waits for the client's close frame after its own.
    package var closing: Duration

    package init(
      messages: WebSocketMessages.Limits, pingInterval: Duration?, silence: Duration?, closing: Duration
    ) {
      self.messages = messages
      self.pingInterval = pingInterval
      self.silence = silence
      self.closing = closing
    }
  }

  package enum Action: Equatable, Sendable {
    case deliver(WebSocketMessage)
    /// The bytes of a frame.
    case write([UInt8])
    /// The client broke a rule. Its later frames are ignored. The caller sends what it wants to say, then calls `close`
    /// with the failure's code.
    case failed(WebSocketFailure)
    /// Close the connection once everything is written. It is the last action.
    case end(WebSocketEnding)
  }

  private enum State {
    case open
    /// The client broke a rule, and `close` was not called yet.
    case failed
    /// The server has sent its close frame.
    case closing(until: Duration)
    case ended
  }

  private let limits: Limits
  private var messages: WebSocketMessages
  private var state = State.open
  private var lastReceived: Duration
  private var nextPing: Duration?

  package init(limits: Limits, now: Duration) {
    self.limits = limits
    messages = WebSocketMessages(limits: limits.messages)
    lastReceived = now
    nextPing = limits.pingInterval.map { now + $0 }
  }

  /// Whether messages can be written. After a close frame nothing may follow (RFC 6455, section 5.5.1).
  package var isWritable: Bool {
    switch state {
    case .open, .failed: true
    case .closing, .ended: false
    }
  }

  /// How much has arrived of a message that is not complete, without its last frame.
  package var unfinishedBytes: Int { messages.unfinishedBytes }

  /// The time of the next `tick` that does something; nil if there is none.
  package var deadline: Duration? {
    switch state {
    case .open: [nextPing, limits.silence.map { lastReceived + $0 }].compactMap(\.self).min()
    case .closing(let until): until
    case .failed, .ended: nil
    }
  }

  package mutating func receive(
    _ header: WebSocketFrameHeader, payload: consuming [UInt8], now: Duration
  ) -> [Action] {
    let awaitsClose: Bool
    switch state {
    case .open: awaitsClose = false
    case .closing: awaitsClose = true
    case .failed, .ended: return []
    }
    lastReceived = now
    do {
      switch try messages.receive(header, payload: payload) {
      case .close(let close):
        state = .ended
        // The response has the same code (RFC 6455, section 5.5.1).
        let echo = close.code.map { WebSocketClose($0) } ?? .empty
        return (awaitsClose ? [] : [.write(echo.frame)]) + [.end(.closed(close))]
      case .message(let message): return awaitsClose ? [] : [.deliver(message)]
      case .ping(let payload): return awaitsClose ? [] : [.write(WebSocketFrames.encode(.pong, payload))]
      case .pong, .incomplete: return []
      }
    } catch {
      return fail(error)
    }
  }

  /// The frame codec could not read a frame, or the caller found a rule broken that only it knows.
  package mutating func fail(_ failure: WebSocketFailure) -> [Action] {
    switch state {
    case .open:
      state = .failed
      return [.failed(failure)]
    // The close frame has been sent, and nothing may follow it.
    case .closing:
      state = .ended
      return [.end(.failed)]
    case .failed, .ended: return []
    }
  }

  /// Begins the closing handshake. After a failure the client's close frame is not awaited (RFC 6455, section 7.1.7).
  package mutating func close(_ code: WebSocketCloseCode, reason: String = "", now: Duration) -> [Action] {
    let frame = WebSocketClose(code, reason: reason).frame
    switch state {
    case .open:
      state = .closing(until: now + limits.closing)
      return [.write(frame)]
    case .failed:
      state = .ended
      return [.write(frame), .end(.failed)]
    case .closing, .ended: return []
    }
  }

  /// - Parameter isReading: false if the caller has stopped reading. Then nothing can arrive, and the client is not silent.
  package mutating func tick(now: Duration, isReading: Bool = true) -> [Action] {
    switch state {
    case .open:
      if !isReading { lastReceived = now }
      return heartbeat(now)
    case .closing(let until):
      guard now >= until else { return [] }
      state = .ended
      return [.end(.unansweredClose)]
    case .failed, .ended: return []
    }
  }

  private mutating func heartbeat(_ now: Duration) -> [Action] {
    if let silence = limits.silence, now >= lastReceived + silence {
      state = .ended
      return [.end(.silent)]
    }
    guard let interval = limits.pingInterval, let due = nextPing, now >= due else { return [] }
    // Counted from now and not from when it was due, so that a late tick is not followed by several pings.
    nextPing = now + interval
    return [.write(WebSocketFrames.encode(.ping, []))]
  }
}

/// How a connection ended.
package enum WebSocketEnding: Equatable, Sendable {
  /// Both sides have sent a close frame. This is the client's.
  case closed(WebSocketClose)
  /// The client broke a rule.
  case failed
  /// The client sent nothing for too long.
  case silent
  /// The client did not respond to the server's close frame.
  case unansweredClose
  /// The connection was lost.
  case disconnected
}
