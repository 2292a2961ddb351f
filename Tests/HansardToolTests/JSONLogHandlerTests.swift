import ChatPrimitives
import Foundation
import Logging
import Testing

@testable import hansard

@Suite("the log in JSON")
struct JSONLogHandlerTests {
  private let handler = JSONLogHandler(label: "hansard", output: LogOutput())

  private func line(_ message: Logger.Message, _ metadata: Logger.Metadata) -> String {
    let event = LogEvent(
      level: .warning, message: message, metadata: nil, source: "Tests", file: "file", function: "function", line: 1)
    return handler.line(event, metadata, at: Timestamp(milliseconds: 0))
  }

  @Test("a line has the time, the level, the logger and the message, then the metadata in alphabetical order")
  func fields() {
    #expect(
      line("it failed", ["b": "2", "a": ["x", ["k": "v"]], "hb.request.id": "7", "level": "x"])
        == """
        {"time":"1970-01-01T00:00:00.000Z","level":"warning","logger":"hansard","message":"it failed","a":["x",{"k":"v"}],\
        "b":"2","requestId":"7","level_":"x"}

        """)
  }

  @Test("text of clients cannot begin another line or field")
  func escapes() throws {
    let text = "a\"},\n{\u{1}\u{2028}\\"
    let line = line("\(text)", ["\(text)": "\(text)"])
    #expect(line.filter { $0 == "\n" }.count == 1 && line.hasSuffix("}\n"))
    let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: String])
    #expect(object["message"] == text && object[text] == text)
  }
}
