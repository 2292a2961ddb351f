import ChatProtocol
import NIOCore
import ProcessorTime
import Testing

@testable import ChatServer

/// What the most frequent requests cost, as a ratio to the JSON decoder that reads all other requests. Processor time that is
/// added without an allocation would not be seen by `test_allocations.py`.
@Suite("The processor time of the most frequent requests")
struct HotPathCostSpecs {
  private static let id = "0123abcd-0000-4000-8000-000000000001"
  private static let other = "0123abcd-0000-4000-8000-00000000000f"
  private static let text = "The kettle is on, and there is cake in the kitchen."
  private static let line = ByteBuffer(
    string: #"{"op":"message.send","roomId":"\#(id)","id":"\#(other)","text":"\#(text)","as":"\#(id)"}"#)
  private static let body = #"{"text":"\#(text)"}"#
  private static let request = Array(
    """
    PUT /v1/rooms/\(id)/messages/\(other) HTTP/1.1\r
    Host: chat.example.org\r
    Authorization: Bearer \(String(repeating: "a", count: 200))\r
    Content-Type: application/json\r
    Content-Length: \(body.utf8.count)\r
    \r
    \(body)
    """.utf8)

  private static let rounds = 15
  private static let times = 2_000

  /// The lowest of several ratios of the processor time of `work` to that of decoding the line: other work on the machine can
  /// only make one of them larger.
  private static func cost(of work: () -> Bool) throws -> Double {
    try (0..<rounds).map { _ in
      let decoded = try ProcessorTime.spent {
        for _ in 0..<times { _ = try JSONBody.decodeNow(IngestLine.self, from: line) }
      }
      var count = 0
      let spent = ProcessorTime.spent { for _ in 0..<times where work() { count += 1 } }
      try #require(count == times)
      return spent / decoded
    }.min() ?? .infinity
  }

  // When these limits were set, the ratios were 0.075 and 0.059.
  @Test("a line with only a text costs less than a sixth of what the decoder costs")
  func line() throws {
    let cost = try Self.cost { PlainLine.message(in: Self.line) != nil }
    #expect(cost < 0.15)
  }

  @Test("the head of a plain message costs less than an eighth of what the decoder costs")
  func head() throws {
    let cost = try Self.cost {
      if case .complete = Self.request.withUnsafeBytes(PlainSend.parse) { true } else { false }
    }
    #expect(cost < 0.12)
  }
}
