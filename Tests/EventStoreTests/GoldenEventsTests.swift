import ChatDomain
import ChatPrimitives
import EventStore
import Foundation
import Testing

@testable import EventLog

/// The records in `Tests/Fixtures/v1/events.txt` never change, and every later program must read them. These tests fail
/// if the number of a kind, a field or a raw value changes.
@Suite("Golden events of version 1")
struct GoldenEventsTests {
  /// One record: the name of its kind, its envelope and its payload.
  private struct Line: Equatable, CustomStringConvertible {
    var kind: String
    var envelope: [UInt8]
    var payload: [UInt8]

    var description: String { "\(kind) \(Self.hex(envelope)) \(payload.isEmpty ? "-" : Self.hex(payload))" }

    init(_ recorded: RecordedEvent) throws {
      let (envelope, payload) = try EventCodec.encode(recorded)
      kind = try #require(EventKind(number: envelope.kind)).name
      self.envelope = envelope.encoded()
      self.payload = payload
    }

    init(_ text: Substring) throws {
      let parts = text.split(separator: " ")
      try #require(parts.count == 3)
      kind = String(parts[0])
      envelope = try Self.bytes(parts[1])
      payload = parts[2] == "-" ? [] : try Self.bytes(parts[2])
    }

    private static func hex(_ bytes: [UInt8]) -> String {
      bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    private static func bytes(_ hex: Substring) throws -> [UInt8] {
      let digits = Array(hex)
      try #require(digits.count.isMultiple(of: 2))
      return try stride(from: 0, to: digits.count, by: 2).map {
        try #require(UInt8(String(digits[$0...($0 + 1)]), radix: 16))
      }
    }
  }

  private func lines() throws -> [Line] {
    let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Fixtures/v1/events.txt")
    return try String(contentsOf: file.standardizedFileURL, encoding: .utf8).split(separator: "\n")
      .filter { !$0.hasPrefix("#") }.map { try Line($0) }
  }

  @Test("they are read as what was written")
  func reads() throws {
    for (line, expected) in zip(try lines(), goldenEvents) {
      let envelope = try RecordEnvelope(parsing: line.envelope.span.bytes)
      let record = LogRecord(position: expected.position, envelope: envelope, payload: .retained(line.payload))
      #expect(try EventCodec.decode(record) == expected)
      #expect(EventKind(number: envelope.kind)?.name == line.kind)
    }
  }

  @Test("the program of today writes the same bytes, and there is a line for each event")
  func writesTheSame() throws {
    let golden = try lines()
    for (index, event) in goldenEvents.enumerated() {
      let today = try Line(event)
      guard index < golden.count else {
        Issue.record("events.txt lacks line \(index + 1): \(today)")
        continue
      }
      #expect(golden[index] == today)
    }
    #expect(golden.count == goldenEvents.count)
  }

  @Test("every kind is among them")
  func everyKind() throws {
    #expect(try Set(lines().map(\.kind)) == Set(EventKind.all.map(\.name)))
  }
}
