import ChatPrimitives
import Foundation
import Testing

@testable import hansard

@Suite("A history becomes commands")
struct ImportPlanTests {
  private let noon = Timestamp(milliseconds: 1_700_000_000_000)

  private func line(
    _ type: HistoryLine.Kind, _ user: String = "anna", room: String = "tea", text: String = "hello"
  ) -> HistoryLine {
    HistoryLine(at: noon, room: room, type: type, user: user, text: type == .message ? text : "")
  }

  private func ops(_ lines: [HistoryLine]) -> [String] {
    var plan = ImportPlan()
    return lines.flatMap { plan.commands(for: $0).map(\.op) }
  }

  private func texts(_ lines: [HistoryLine]) -> [String] {
    var plan = ImportPlan()
    return lines.flatMap { plan.commands(for: $0).map(\.fields.encoded) }
  }

  @Test("a message implies registration, creation of the room and joining, once")
  func speaking() {
    #expect(
      ops([line(.message), line(.message), line(.message, "ben")]) == [
        "user.register", "room.create", "member.join", "message.send", "message.send", "user.register", "member.join",
        "message.send",
      ])
  }

  @Test("leaving implies having joined; a repeated join is sent as nothing; who left joins again by speaking")
  func membership() {
    #expect(
      ops([line(.leave), line(.join), line(.join), line(.leave), line(.message)]) == [
        "user.register", "room.create", "member.join", "member.leave", "member.join", "member.leave", "member.join",
        "message.send",
      ])
  }

  @Test("the same history gives the same commands, and equal lines of it different messages")
  func identities() {
    let lines = [line(.message), line(.message), line(.leave), line(.leave), line(.join), line(.message)]
    #expect(texts(lines) == texts(lines))
    #expect(Set(texts(lines)).count == texts(lines).count)
  }

  @Test("a line keeps its ID when other lines come before it")
  func stability() {
    let alone = texts([line(.message, text: "b")]).last
    let later = texts([line(.message, text: "a"), line(.message, text: "b")]).last
    #expect(alone == later)
  }

  @Test("adjacent fields are separated in IDs")
  func fields() {
    let first = texts([line(.message, "ab", room: "c")]).last
    let second = texts([line(.message, "b", room: "ca")]).last
    #expect(first != second)
  }

  @Test("IDs of messages, joins and leaves are UUIDs of version 7 with the line's time, others of version 8")
  func version() {
    let at = Timestamp(milliseconds: 0x0123_4567_89ab)
    let line = LineIdentity(bytes: [1], at: at)
    for uuid in [DerivedID.message(line).uuid, DerivedID.joinKey(line).uuid, DerivedID.leaveKey(line).uuid] {
      #expect(uuid.high >> 16 == 0x0123_4567_89ab)
      #expect(uuid.high >> 12 & 0xf == 7)
      #expect(uuid.low >> 62 == 0b10)
    }
    #expect(DerivedID.message(line).uuid != DerivedID.message(LineIdentity(bytes: [2], at: at)).uuid)
    for milliseconds in [-1, 1 << 48] as [Int64] {
      let beyond = LineIdentity(bytes: [1], at: Timestamp(milliseconds: milliseconds))
      #expect(DerivedID.message(beyond).uuid.high >> 12 & 0xf == 8)
    }
    for name in ["anna", "", "안나"] {
      let text = Array(DerivedID.user(named: name).description)
      #expect(text[14] == "8")
      #expect("89ab".contains(text[19]))
    }
    #expect(DerivedID.user(named: "x").uuid != DerivedID.room(named: "x").uuid)
  }

  @Test("the IDs of today stay the IDs of every later version")
  func golden() {
    #expect(DerivedID.user(named: "|trey|").description == "ac749cbd-c5f9-88a5-b189-52c150c3137d")
    #expect(DerivedID.room(named: "#ubuntu").description == "d9791167-4b44-8ecc-b888-1d0064b40274")
  }

  @Test("names that differ in their composed form only are two users, of which one has the externalId")
  func composedForms() {
    let sent = texts([line(.join, "\u{e9}"), line(.join, "e\u{301}")]).filter { $0.contains("user.register") }
    #expect(sent.count == 2)
    #expect(sent.map { $0.contains("externalId") } == [true, false])
  }

  @Test("a long name is cut at a character, and is no externalId beyond its limit")
  func longNames() {
    #expect("길길길".cut(toBytes: 8) == "길길")
    #expect("길길길".cut(toBytes: 9) == "길길길")
    #expect("a👩‍👩‍👧‍👦".cut(toBytes: 10) == "a")
    #expect("👩‍👩‍👧‍👦".cut(toBytes: 10).utf8.count <= 10)
    #expect(!"👩‍👩‍👧‍👦".cut(toBytes: 10).isEmpty)
    let longest = String(repeating: "x", count: Limits.externalIDBytes)
    #expect(texts([line(.join, longest)])[0].contains("externalId"))
    #expect(!texts([line(.join, longest + "x")])[0].contains("externalId"))
    #expect(!texts([line(.join, "bell\u{7}")])[0].contains("externalId"))
  }

  @Test("counts are those of the history")
  func counts() {
    var plan = ImportPlan()
    for line in [line(.join), line(.message), line(.message, "ben"), line(.leave)] { _ = plan.commands(for: line) }
    plan.noteMalformedLine()
    #expect(
      plan.counts
        == ImportCounts(lines: 5, messages: 2, joins: 1, leaves: 1, users: 2, rooms: 1, failed: 1))
  }

  @Test(
    "an invalid history line gets the reason",
    arguments: [
      ("{", "it is not valid JSON"), ("[1]", "it is not a JSON object"),
      (#"{"room":"r","type":"join","user":"u"}"#, "it has no field at"),
      (#"{"at":"noon","room":"r","type":"join","user":"u"}"#, "its field at has no valid value"),
      (#"{"at":"2020-01-01T00:00:00Z","room":1,"type":"join","user":"u"}"#, "its field room has the wrong type"),
      (#"{"at":"2020-01-01T00:00:00Z","room":"r","type":"sing","user":"u"}"#, "its field type has no valid value"),
      (#"{"at":"2020-01-01T00:00:00Z","room":"r","type":"message","user":"u"}"#, "it has no field text"),
    ])
  func malformed(line: String, reason: String) {
    let error = #expect(throws: HistoryParser.Flaw.self) { try HistoryParser().parse(Array(line.utf8)) }
    #expect(error?.reason == reason)
  }
}

@Suite("A file is cut into lines")
struct LineReaderTests {
  private static let lineBytes = 1_000
  private static let chunkBytes = 300

  private func lines(_ bytes: [UInt8]) throws -> [LineReader.Line] {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("lines-\(UUID().uuidString)")
    try Data(bytes).write(to: path)
    defer { try? FileManager.default.removeItem(at: path) }
    let file = try FileHandle(forReadingFrom: path)
    var reader = LineReader(file.fileDescriptor, lineBytes: Self.lineBytes, chunkBytes: Self.chunkBytes)
    var lines: [LineReader.Line] = []
    while let line = try reader.next() { lines.append(line) }
    #expect(reader.consumed == UInt64(bytes.count))
    withExtendedLifetime(file) {}
    return lines
  }

  private func text(_ text: String) -> LineReader.Line { .text(Array(text.utf8)) }

  @Test("with either line end, and without one at the end")
  func ends() throws {
    #expect(try lines([]) == [])
    #expect(try lines(Array("a\n\nb\r\nc".utf8)) == [text("a"), text(""), text("b"), text("c")])
    #expect(try lines(Array("a\n".utf8)) == [text("a")])
  }

  @Test("whole, however long the file is")
  func chunks() throws {
    let wanted = (0..<3_000).map { String(repeating: "x", count: $0 % 700) + "\($0)" }
    #expect(try lines(Array(wanted.joined(separator: "\n").utf8)) == wanted.map(text))
  }

  @Test("a line beyond the limit is passed over", arguments: [-1, 0, 1, 2, 299, 300, 5_000])
  func limit(beyond: Int) throws {
    let long = [UInt8](repeating: 0x78, count: Self.lineBytes + beyond)
    for end in ["\nnext", "\r\nnext", "\n", ""] {
      let found = try lines(long + Array(end.utf8))
      #expect(found.first == (beyond > 0 ? .tooLong : .text(long)))
      #expect(found.dropFirst().first == (end.hasSuffix("next") ? text("next") : nil))
    }
  }
}
