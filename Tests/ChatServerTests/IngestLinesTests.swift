import NIOCore
import Testing

@testable import ChatServer

@Suite struct IngestLinesTests {
  private typealias Line = IngestLines.Line

  private func lines(_ pieces: [String], _ change: (inout IngestLines.Bounds) -> Void) -> [Line] {
    var bounds = IngestLines.Bounds()
    change(&bounds)
    var body = IngestLines(bounds: bounds)
    var lines: [Line] = []
    for piece in pieces {
      var buffer = ByteBuffer(string: piece)
      while buffer.readableBytes > 0 { lines += body.take(&buffer) }
    }
    return lines + body.finish()
  }

  private func line(_ number: Int, _ text: String) -> Line {
    Line(number: number, content: .success(ByteBuffer(string: text)))
  }

  private func refused(_ number: Int, _ refusal: Refusal) -> Line { Line(number: number, content: .failure(refusal)) }

  @Test("Lines are numbered from 1; blank ones are counted and skipped")
  func numbers() {
    #expect(lines(["\na\n\n", "b\n \nc"]) { _ in } == [line(2, "a"), line(4, "b"), line(6, "c")])
  }

  @Test("A body may have as many bytes as its bound; what comes after them is not looked at")
  func bytes() {
    let body = "aaa\nbbb\n"
    for bound in [8, 9] {
      #expect(lines([body]) { $0.bytes = bound } == [line(1, "aaa"), line(2, "bbb")])
    }
    let cut = [line(1, "aaa"), refused(2, .bodyTooLarge(limit: 7))]
    #expect(lines([body]) { $0.bytes = 7 } == cut)
    #expect(lines([body, "ccc\n", "ddd"]) { $0.bytes = 7 } == cut)
    #expect(lines(body.map { String($0) } + ["ccc\n", "ddd"]) { $0.bytes = 7 } == cut)
  }

  @Test("A body may have as many lines as its bound, counting blank ones")
  func count() {
    let two = [line(1, "a"), line(3, "b")]
    for bound in [4, 5] {
      #expect(lines(["a\n\nb\n\n"]) { $0.lines = bound } == two)
    }
    let cut = two + [refused(5, .tooManyLines(limit: 4))]
    #expect(lines(["a\n\nb\n\nc\nd\n"]) { $0.lines = 4 } == cut)
    #expect(lines(["a\n\nb\n", "\nc", "\nd\n", "e"]) { $0.lines = 4 } == cut)
    #expect(lines(["a\n\nb\n\nc"]) { $0.lines = 4 } == cut)
    #expect(lines(["a\n\nb\n\n\n\n"]) { $0.lines = 4 } == cut)
    #expect(lines(["\n\n\n"]) { $0.lines = 2 } == [refused(3, .tooManyLines(limit: 2))])
  }

  @Test("Only so many lines are cut at once, and blank ones count")
  func atOnce() {
    var bounds = IngestLines.Bounds()
    bounds.linesAtOnce = 2
    bounds.bytes = 10
    var body = IngestLines(bounds: bounds)
    var buffer = ByteBuffer(string: "\n\na\nb\n\nccc\nd\n")
    var steps: [[Line]] = []
    while buffer.readableBytes > 0 { steps.append(body.take(&buffer)) }
    #expect(steps == [[], [line(3, "a"), line(4, "b")], [refused(6, .bodyTooLarge(limit: 10))], []])
    #expect(body.isOver)
    let last = body.finish()
    #expect(last == [])
  }

  @Test("Nothing is taken from a body that was stopped")
  func stopped() {
    var body = IngestLines()
    var buffer = ByteBuffer(string: "a\nb")
    let first = body.take(&buffer)
    body.stop()
    buffer = ByteBuffer(string: "\nc\n")
    let second = body.take(&buffer)
    let last = body.finish()
    #expect(first == [line(1, "a")])
    #expect(second == [])
    #expect(last == [])
    #expect(buffer.readableBytes == 0)
  }

  @Test("Only one bound is reported when two are passed at once")
  func both() {
    #expect(
      lines(["a\nb\nc\nd"]) {
        $0.lines = 1
        $0.bytes = 5
      } == [line(1, "a"), refused(2, .tooManyLines(limit: 1))])
  }

  @Test("A line that is too long fails alone")
  func longLine() {
    #expect(
      lines(["aaaa\nb\n"]) { $0.lineBytes = 3 } == [refused(1, .lineTooLong(limit: 3)), line(2, "b")])
  }
}
