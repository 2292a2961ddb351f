/// What the caller does for a session, in this order. Inputs that an action causes come after all of them.
package enum EngineAction: Equatable, Sendable {
  /// The body of the response (200) to the pending GET.
  case answerPoll([UInt8])
  /// The GET that was just passed in gets an error (400).
  case refusePoll(EngineError)
  /// The response (200, `ok`) to the POST.
  case answerPost
  /// The POST that was just passed in gets an error (400).
  case refusePost(EngineError)
  /// The WebSocket that was just passed in becomes the session's; its handshake can be completed.
  case acceptSocket
  /// The WebSocket that was just passed in gets an error (400) instead of its handshake.
  case refuseSocket(EngineError)
  /// Send this on the session's WebSocket.
  case write(WebSocketMessage)
  /// Close the session's WebSocket. It is not the session's any more: nothing about it may be passed in.
  case closeSocket
  /// A message from the client.
  case deliver(EngineMessage)
  /// The application can neither send nor receive any more. A polling client may still fetch what was sent.
  case ended(EngineEnding)
  /// Remove the session. Only the response to the request that was just passed in can follow.
  case forget
}

/// Why a session ended.
package enum EngineEnding: Equatable, Sendable {
  case closedByClient
  case closedByServer
  /// The WebSocket was closed.
  case socketClosed
  /// The client left while a GET was pending, or within a POST.
  case requestCancelled
  /// A second GET while one was pending.
  case duplicatePoll
  /// A second POST while one was being read.
  case duplicatePost
  case malformed(EnginePacketError)
  case pingTimeout
  /// A polling client did not fetch what was sent.
  case bufferFull
  /// The client sent too many packets that are neither messages nor events. The caller counts them.
  case tooManyPackets
}

package struct EngineLimits: Equatable, Sendable {
  package var pingInterval: Duration
  package var pingTimeout: Duration
  /// The most bytes of a POST or of a WebSocket message. The client learns it in the handshake.
  package var maxPayload: Int
  /// The most packets of a POST.
  package var packetsPerPost: Int
  /// The most packets of a polling response. Some clients accept no more than 16.
  package var packetsPerPoll: Int
  /// The most bytes that wait for a polling client.
  package var bufferBytes: Int
  /// How long an upgrade can take.
  package var upgradeTimeout: Duration
  /// How long a session that was closed waits for the client to fetch the rest.
  package var closeTimeout: Duration

  package init(
    pingInterval: Duration, pingTimeout: Duration, maxPayload: Int, packetsPerPost: Int, packetsPerPoll: Int,
    bufferBytes: Int, upgradeTimeout: Duration, closeTimeout: Duration
  ) {
    self.pingInterval = pingInterval
    self.pingTimeout = pingTimeout
    self.maxPayload = maxPayload
    self.packetsPerPost = packetsPerPost
    self.packetsPerPoll = packetsPerPoll
    self.bufferBytes = bufferBytes
    self.upgradeTimeout = upgradeTimeout
    self.closeTimeout = closeTimeout
  }
}
