import EventLogSimulation
import Testing

@testable import SocketProtocols

@Suite struct IncrementalUTF8Specs {
  /// Table 3-7 of the Unicode standard, at the ends of its rows, and what lies just outside.
  static let valid: [[UInt8]] = [
    [], [0x00], [0x7f], [0xc2, 0x80], [0xdf, 0xbf], [0xe0, 0xa0, 0x80], [0xe1, 0x80, 0x80], [0xed, 0x9f, 0xbf],
    [0xee, 0x80, 0x80], [0xef, 0xbf, 0xbf], [0xf0, 0x90, 0x80, 0x80], [0xf3, 0xbf, 0xbf, 0xbf],
    [0xf4, 0x8f, 0xbf, 0xbf], utf8("Hello-µ@ßöäüàá-UTF-8!!"), utf8("twelve ASCII, then €"),
  ]
  static let invalid: [[UInt8]] = [
    [0x80], [0xbf], [0xc0, 0x80], [0xc1, 0xbf], [0xc2, 0x7f], [0xc2, 0xc0], [0xe0, 0x9f, 0xbf], [0xed, 0xa0, 0x80],
    [0xed, 0xbf, 0xbf], [0xf0, 0x8f, 0xbf, 0xbf], [0xf4, 0x90, 0x80, 0x80], [0xf5, 0x80, 0x80, 0x80], [0xff],
    [0xe1, 0x80, 0x41], utf8("eight ASCII") + [0xfe], [0xf0, 0x90, 0x80, 0xc0],
  ]

  @Test("valid text is accepted wherever it is split", arguments: valid)
  func accepts(bytes: [UInt8]) {
    for place in 0...bytes.count { #expect(judge(bytes[..<place], bytes[place...]) == .complete) }
  }

  @Test("invalid text is refused wherever it is split", arguments: invalid)
  func refuses(bytes: [UInt8]) {
    for place in 0...bytes.count { #expect(judge(bytes[..<place], bytes[place...]) == .invalid) }
  }

  @Test("a character that is not finished is incomplete, and not yet invalid")
  func incomplete() {
    for end in 1...3 { #expect(judge(utf8("😀")[..<end]) == .incomplete) }
    #expect(!IncrementalUTF8.isValid([0xe2, 0x82]))
  }

  @Test("the first byte that cannot belong to a character is found at once")
  func failsFast() {
    #expect(judge([0xf4]) == .incomplete)
    #expect(judge([0xf4], [0x90]) == .invalid)
  }

  @Test("every sequence of two bytes, and of three after a lead byte, is judged as by the standard library")
  func agreesOnShortSequences() {
    for first in UInt8.min...UInt8.max {
      for second in UInt8.min...UInt8.max { expectAgreement([first, second]) }
    }
    for lead: UInt8 in [0xe0, 0xe1, 0xed, 0xef, 0xf0, 0xf4] {
      for second in UInt8(0x7f)...0xc0 {
        for third: UInt8 in [0x7f, 0x80, 0xbf, 0xc0] { expectAgreement([lead, second, third]) }
      }
    }
  }

  @Test("random bytes between ASCII are judged as by the standard library", arguments: 0..<200 as Range<UInt64>)
  func agreesOnRandomBytes(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    var bytes = utf8(random.text(.random(in: 0...40, using: &random)))
    for _ in 0..<Int.random(in: 0...2, using: &random) where !bytes.isEmpty {
      bytes[.random(in: 0..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
    }
    expectAgreement(bytes)
  }

  private enum Judgement {
    case complete
    case incomplete
    case invalid
  }

  private func judge(_ parts: ArraySlice<UInt8>...) -> Judgement {
    var check = IncrementalUTF8()
    for part in parts {
      guard check.accept(Array(part)) else { return .invalid }
    }
    return check.isComplete ? .complete : .incomplete
  }

  private func expectAgreement(_ bytes: [UInt8]) {
    #expect(IncrementalUTF8.isValid(bytes) == (String(validating: bytes, as: UTF8.self) != nil), "\(bytes)")
  }
}
