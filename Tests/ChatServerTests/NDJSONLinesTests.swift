import NIOCore
import Testing

@testable import ChatServer

@Suite struct NDJSONLinesTests {
  /// The lines of a body that arrives in these pieces.
  private func lines(_ pieces: [String], limit: Int = 100) -> [NDJSONLines.Line] {
    var cutter = NDJSONLines(limit: limit)
    var lines: [NDJSONLines.Line] = []
    for piece in pieces {
      var buffer = ByteBuffer(string: piece)
      lines += cutter.take(&buffer)
    }
    if let last = cutter.finish() { lines.append(last) }
    return lines
  }

  private func text(_ text: String) -> NDJSONLines.Line { .text(ByteBuffer(string: text)) }

  @Test("A body cut in two at any byte gives the same lines")
  func anyCut() {
    let body = "one\n\n two\r\n\r\n\t \nthree of 3\n" + String(repeating: "x", count: 11) + "\nlast"
    let whole = [text("one"), .blank, text(" two"), .blank, .blank, text("three of 3"), .tooLong, text("last")]
    for cut in 0...body.count {
      #expect(lines([String(body.prefix(cut)), String(body.dropFirst(cut))], limit: 10) == whole, "cut at \(cut)")
    }
  }

  @Test("A body that comes byte by byte gives the same lines")
  func byteByByte() {
    let body = "one\ntwo\r\n\nthree"
    #expect(lines(body.utf8.map { String(UnicodeScalar($0)) }) == lines([body]))
  }

  @Test("A line may be as long as the limit, whether its end comes or not", arguments: ["", "\n"])
  func limit(end: String) {
    for length in 9...10 {
      let line = String(repeating: "x", count: length)
      #expect(lines([line + end], limit: 10) == [text(line)])
      #expect(lines([line, end], limit: 10) == [text(line)])
    }
    #expect(lines([String(repeating: "x", count: 11) + end], limit: 10) == [.tooLong])
    #expect(lines(Array(repeating: "x", count: 11) + [end], limit: 10) == [.tooLong])
  }

  @Test("A line that is too long takes no memory and does not affect the next")
  func afterTooLong() {
    #expect(lines(Array(repeating: "xxxxxxxxxx", count: 50) + ["\nnext\n"], limit: 10) == [.tooLong, text("next")])
  }

  @Test("An empty body has no lines, and a last line needs no end")
  func ends() {
    #expect(lines([""]) == [])
    #expect(lines(["\n"]) == [.blank])
    #expect(lines(["a"]) == [text("a")])
    #expect(lines(["a\n"]) == [text("a")])
    #expect(lines(["a\n\r"]) == [text("a"), .blank])
  }

  @Test("It stops at the number of lines that are wanted and leaves the other bytes")
  func most() {
    var cutter = NDJSONLines(limit: 100)
    var buffer = ByteBuffer(string: "a\n\nb\nc")
    let first = cutter.take(&buffer, most: 2)
    #expect(first == [text("a"), .blank])
    #expect(buffer == ByteBuffer(string: "b\nc"))
    let second = cutter.take(&buffer, most: 2)
    #expect(second == [text("b")])
    #expect(buffer.readableBytes == 0)
    let last = cutter.finish()
    #expect(last == text("c"))
  }

  @Test("A carriage return is white space before a line's end only")
  func carriageReturns() {
    #expect(lines(["a\r\nb\rc\n"]) == [text("a"), text("b\rc")])
  }
}
