import Glibc

/// The open streams.
struct Streams {
  /// Below the backlog of the servers, so that no connection is refused.
  private static let openedAtOnce = 100
  /// Fewer than the sessions of Socket.IO that the server allows an address.
  private static let streamsOfAddress = 500
  private static let keepAliveNanoseconds = 20_000_000_000

  private(set) var connections: [Connection] = []
  private var keepAliveBytes: [UInt8] = []
  /// The stream that sends that next, how many streams are to send it now, and as of when.
  private var next = 0
  private var owed = 0.0
  private var owedAt = now()

  /// Opens streams in addition to those that are open.
  mutating func open(_ plan: Instruction.Open, _ buffer: ReadBuffer) throws {
    let (until, answer) = (SearchedText(plan.until), SearchedText(plan.answer))
    keepAliveBytes = plan.keepAlive.singleBytes
    for start in stride(from: 0, to: plan.requests.count, by: Self.openedAtOnce) {
      let opening = try plan.requests[start...].prefix(Self.openedAtOnce).map { request in
        let connection = try Connection(port: plan.port, from: 1 + connections.count / Self.streamsOfAddress, buffer)
        try connection.send(request.singleBytes)
        return connection
      }
      for connection in opening { try connection.wait(for: until) }
      if !plan.message.isEmpty {
        for connection in opening { try connection.send(plan.message.singleBytes) }
        for connection in opening { try connection.wait(for: answer) }
      }
      connections += opening
      try keepAlive()
    }
  }

  mutating func close() { (connections, owed) = ([], 0) }

  /// Shows the server that the clients are there. The streams take turns, so that none of this takes long.
  mutating func keepAlive() throws {
    let time = now()
    owed += Double(time - owedAt) / Double(Self.keepAliveNanoseconds) * Double(connections.count)
    owedAt = time
    while owed >= 1 {
      next = (next + 1) % connections.count
      if !keepAliveBytes.isEmpty { try connections[next].send(keepAliveBytes) }
      owed -= 1
    }
  }
}
