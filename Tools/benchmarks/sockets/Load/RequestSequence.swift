/// Requests on one connection: each is sent when an earlier one has its response.
enum RequestSequence {
  struct Plan: Decodable {
    var port: UInt16
    /// What opens the connection, or empty.
    var opening: String
    /// With this text in what it sent, the server has opened it.
    var until: String
    /// They are sent in turn, again and again.
    var requests: [String]
    /// How many requests are sent.
    var count: Int
    /// Whether each request is a text frame, or is sent as it is.
    var isWebSocket: Bool
    /// How many requests can be without a response.
    var window: Int
    /// What each response contains once.
    var response: String
  }

  /// Times are those of requests in the order of responses: with a window of one, of the same request.
  static func run(_ plan: Plan, _ buffer: ReadBuffer) throws -> Report {
    let connection = try Connection(port: plan.port, buffer)
    if !plan.opening.isEmpty {
      try connection.send(Array(plan.opening.utf8))
      try connection.wait(for: SearchedText(plan.until))
    }
    let requests = plan.requests.map { plan.isWebSocket ? frame($0) : Array($0.utf8) }
    let response = SearchedText(plan.response)
    var sent: [Int] = []
    var times: [Int] = []
    sent.reserveCapacity(plan.count)
    times.reserveCapacity(plan.count)
    let (began, used) = (now(), processorTime())
    while times.count < plan.count {
      let due = sent.count..<min(plan.count, times.count + plan.window)
      if !due.isEmpty {
        let bytes = due.flatMap { requests[$0 % requests.count] }
        sent += repeatElement(now(), count: due.count)
        try connection.send(bytes)
      }
      let count = try connection.count(response, waits: true)
      let time = now()
      for _ in 0..<count { times.append((time - sent[times.count]) / 1_000) }
    }
    return Report(
      seconds: Double(now() - began) / 1e9, responses: times, processor: Double(processorTime() - used) / 1e9)
  }

  /// A text frame, whose mask is zero so that it changes nothing.
  private static func frame(_ text: String) -> [UInt8] {
    let payload = Array(text.utf8)
    let length: [UInt8] =
      payload.count < 126
      ? [0x80 | UInt8(payload.count)] : [0x80 | 126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
    return [0x81] + length + [0, 0, 0, 0] + payload
  }
}
