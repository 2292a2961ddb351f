/// Messages that are sent by HTTP, and their way to the open streams.
final class Delivery {
  struct Plan: Decodable {
    var port: UInt16
    /// What sends each message. The last twelve digits of the message's ID are its number, from 0, hexadecimal.
    var requests: [String]
    /// To how many streams each message goes.
    var deliveries: Int
    /// Messages per second, whatever the latencies are. Zero to send each when the one before has reached all streams.
    var rate: Double
    /// How many connections send.
    var senders: Int
  }

  /// How a response to a sent message begins.
  private static let response = SearchedText("HTTP/1.1 201 ")
  /// What precedes the ID of a message in an item, but not inside a room.
  private static let beforeID = SearchedText("\"message\":{\"id\":\"")
  private static let idBytes = 36
  private static let numberDigits = 12
  private static let patienceNanoseconds = 60_000_000_000

  private let plan: Plan
  private let poller = Poller()
  private let senders: [Connection]
  /// The senders that wait for no response, and what the others sent.
  private var idle: [Int]
  private var pending: [Int]
  private var sent: [Int] = []
  private var responded: [Int]
  private var arrived: [[Int]]
  private var finished = 0
  private var waits = 0

  init(_ plan: Plan, to streams: Streams, _ buffer: ReadBuffer) throws {
    self.plan = plan
    senders = try (0..<plan.senders).map { _ in try Connection(port: plan.port, buffer) }
    idle = Array(senders.indices)
    pending = senders.map { _ in 0 }
    responded = [Int](repeating: 0, count: plan.requests.count)
    arrived = [[Int]](repeating: [], count: plan.requests.count)
    for (index, stream) in streams.connections.enumerated() { try poller.add(stream.descriptor, index) }
    for (index, sender) in senders.enumerated() { try poller.add(sender.descriptor, streams.connections.count + index) }
  }

  func run(_ streams: inout Streams) throws -> Report {
    defer { poller.close() }
    let connections = streams.connections
    let (began, used) = (now(), processorTime())
    var lastEvent = began
    while finished < plan.requests.count {
      try sendDue(since: began)
      let count = try poller.wait(milliseconds: 1) { number in
        if number < connections.count {
          try receive(connections[number])
        } else {
          try respond(number - connections.count)
        }
      }
      try streams.keepAlive()
      if count > 0 { lastEvent = now() }
      guard now() - lastEvent < Self.patienceNanoseconds else {
        throw Failure("nothing arrived for a minute; \(finished) of \(sent.count) messages are complete")
      }
    }
    return Report(
      seconds: Double(now() - began) / 1e9, responses: zip(responded, sent).map { ($0 - $1) / 1_000 },
      arrivals: zip(arrived, responded).flatMap { times, response in times.map { ($0 - response) / 1_000 } },
      last: zip(arrived, responded).map { (($0.max() ?? 0) - $1) / 1_000 }, waits: waits,
      processor: Double(processorTime() - used) / 1e9)
  }

  private func sendDue(since began: Int) throws {
    while sent.count < plan.requests.count {
      let due = plan.rate > 0 ? Int(Double(now() - began) / 1e9 * plan.rate) : finished
      guard sent.count <= due else { return }
      guard !idle.isEmpty else {
        waits += 1
        return
      }
      // In turn, because the server closes a connection that is not used.
      let sender = idle.removeFirst()
      pending[sender] = sent.count
      sent.append(now())
      try senders[sender].send(Array(plan.requests[pending[sender]].utf8))
    }
  }

  private func respond(_ sender: Int) throws {
    guard try senders[sender].count(Self.response) > 0 else { return }
    responded[pending[sender]] = now()
    complete(pending[sender])
    idle.append(sender)
  }

  private func receive(_ stream: Connection) throws {
    var numbers: [Int] = []
    // More than an ID needs, so that an error shows what the server sent last.
    try stream.read(keeping: ReadBuffer.keptBytes / 4) { bytes in
      var used = 0
      while let start = Self.beforeID.end(in: bytes, from: used), start + Self.idBytes <= bytes.count {
        used = start + Self.idBytes
        let digits = String(decoding: bytes[(used - Self.numberDigits)..<used], as: UTF8.self)
        guard let number = Int(digits, radix: 16) else { throw Failure("an ID without a number: \(digits)") }
        numbers.append(number)
      }
      return used
    }
    let time = now()
    for number in numbers {
      guard arrived.indices.contains(number), arrived[number].count < plan.deliveries else {
        throw Failure("message \(number) arrived too often")
      }
      arrived[number].append(time)
      complete(number)
    }
  }

  private func complete(_ number: Int) {
    if responded[number] > 0, arrived[number].count == plan.deliveries { finished += 1 }
  }
}
