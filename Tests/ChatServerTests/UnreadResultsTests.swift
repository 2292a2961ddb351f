import ChatPrimitives
import ChatProtocol
import Foundation
import NIOCore
import Testing

@testable import ChatServer

/// The results that an ingest keeps until they are read.
@Suite struct UnreadResultsTests {
  private func read(_ unread: inout UnreadResults, upTo bytes: Int = .max) throws -> [IngestResult] {
    guard let text = unread.text(upTo: bytes) else { return [] }
    return try String(buffer: text).split(separator: "\n").map {
      try JSONDecoder().decode(IngestResult.self, from: Data($0.utf8))
    }
  }

  private let refusal = LineRefusal(status: 400, code: "invalid_field", detail: "Say \"x\" \u{e9}\n")

  @Test("results come out as they went in, wherever positions jump to")
  func roundTrip() throws {
    var unread = UnreadResults()
    let positions: [UInt64] = [7, 8, 1, 1 << 40, 9, 9]
    let effects = LineEffect.allCases
    for (index, position) in positions.enumerated() {
      try unread.append(index * 3 + 1, .done(effects[index % effects.count], LogPosition(position)))
    }
    try unread.append(100, .refused(refusal))
    try unread.append(300_000, .done(.created, LogPosition(10)))
    var expected = positions.enumerated().map { index, position in
      let effect = effects[index % effects.count]
      return IngestResult(
        line: index * 3 + 1, status: effect == .created ? 201 : 200, position: LogPosition(position),
        isRepeat: effect == .repeated)
    }
    expected.append(IngestResult(line: 100, status: 400, code: refusal.code, detail: refusal.detail))
    expected.append(IngestResult(line: 300_000, status: 201, position: LogPosition(10)))
    #expect(try read(&unread) == expected)
    #expect(unread.isEmpty && unread.text(upTo: 1) == nil)
  }

  @Test("a piece of text ends with the line that fills it")
  func pieces() throws {
    var unread = UnreadResults()
    for line in 1...100 { try unread.append(line, .done(.created, LogPosition(UInt64(line)))) }
    var lines: [Int] = []
    while case let piece = try read(&unread, upTo: 120), !piece.isEmpty {
      #expect(piece.count <= 4)
      lines += piece.map(\.line)
    }
    #expect(lines == Array(1...100))
  }

  @Test("as many lines as a body may have take a few bytes each")
  func size() throws {
    var unread = UnreadResults()
    for line in 1...Limits.ingestLines {
      let result: LineResult =
        line.isMultiple(of: 2) ? .refused(refusal) : .done(.created, LogPosition(UInt64(line)))
      try unread.append(line, result)
    }
    #expect(unread.byteCount <= 5 * Limits.ingestLines)
    #expect(try read(&unread).count == Limits.ingestLines)
  }

  @Test("only so many refusals keep their details; when all is read, there is room again")
  func details() throws {
    var unread = UnreadResults()
    let detail = String(repeating: "x", count: 1_000)
    let most = Limits.ingestRefusalBytes / (detail.utf8.count + 4)
    for line in 1...(most + 10) {
      let refusal = LineRefusal(status: 400, code: "invalid_field", detail: "\(detail)\(1_000 + line)")
      try unread.append(line, .refused(refusal))
    }
    let results = try read(&unread)
    #expect(results.filter { $0.detail?.hasPrefix(detail) == true }.count == most)
    #expect(Set(results.map(\.code)) == ["invalid_field"] && results.count == most + 10)
    try unread.append(1_000, .refused(LineRefusal(status: 400, code: "invalid_field", detail: detail)))
    #expect(try read(&unread).map(\.detail) == [detail])
  }
}
