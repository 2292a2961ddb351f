import Glibc

/// What the benchmark tells the generator, as one line of JSON. Exactly one field is set.
struct Instruction: Decodable {
  var open: Open?
  var close: Bool?
  var requests: RequestSequence.Plan?
  var deliver: Delivery.Plan?

  /// Opens streams. In all texts that are sent, a character is one byte, so that they can contain frames.
  struct Open: Decodable {
    var port: UInt16
    /// The request of each stream.
    var requests: [String]
    /// With this text in what it sent, the server has opened the stream.
    var until: String
    /// What each stream sends after that, and what it then waits for; empty for nothing.
    var message: String
    var answer: String
    /// What each stream sends every 20 seconds, because the server closes a WebSocket of which it hears nothing; empty
    /// for nothing.
    var keepAlive: String
  }
}

/// What the generator found out. Times are in microseconds.
struct Report: Encodable {
  var streams: Int?
  var seconds: Double?
  /// How long requests waited for their responses.
  var responses: [Int]?
  /// How long messages took to the streams, counted from the response to the sender.
  var arrivals: [Int]?
  /// The same of the last stream that a message reached.
  var last: [Int]?
  /// How often a message was due while every sender waited for a response.
  var waits: Int?
  /// The processor time of the generator itself, user and system, in seconds.
  var processor: Double?
  var error: String?
}

struct Failure: Error {
  var text: String

  init(_ text: String) { self.text = text }

  /// A system call failed.
  init(system call: String) { text = "\(call): \(String(cString: strerror(errno)))" }
}

extension String {
  /// Each character as one byte (Latin-1).
  var singleBytes: [UInt8] { unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) } }
}
