import Logging
import Synchronization
import Testing

@testable import hansard

@Suite("the log as text")
struct TextLogHandlerTests {
  /// The lines that were written.
  private final class Output: TextOutputStream, Sendable {
    private let written = Mutex("")

    var text: String { written.withLock { $0 } }

    func write(_ string: String) { written.withLock { $0 += string } }
  }

  @Test("the ID of a request has its name of the contract, and the logger keeps the name that Hummingbird reads")
  func requestID() {
    let output = Output()
    var logger = Logger(label: "hansard") { TextLogHandler(StreamLogHandler(label: $0, stream: output)) }
    logger[metadataKey: "hb.request.id"] = "7"
    logger.notice("it failed", metadata: ["code": "x"])
    #expect(output.text.hasSuffix(" notice hansard: code=x requestId=7 [HansardToolTests] it failed\n"))
    #expect(logger[metadataKey: "hb.request.id"] == "7")
  }
}
