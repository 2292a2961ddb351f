import ChatPrimitives
import Testing

@testable import EventLog

@Suite("Records")
struct RecordFormatTests {
  @Test("an envelope comes back from its bytes, whichever fields it has", arguments: 0..<64)
  func envelopeRoundTrip(presence: Int) throws {
    let envelope = Sample.envelope(99, presence: presence)
    let bytes = envelope.encoded()
    #expect(bytes.count == envelope.encodedBytes)
    #expect(try RecordEnvelope(parsing: bytes.span.bytes) == envelope)
  }

  @Test("an envelope with a byte more, a byte less or an unknown bit is refused", arguments: 0..<64)
  func envelopeIsCanonical(presence: Int) throws {
    let bytes = Sample.envelope(99, presence: presence).encoded()
    for length in 0..<bytes.count {
      #expect(throws: FormatFlaw.self) { try RecordEnvelope(parsing: Array(bytes[..<length]).span.bytes) }
    }
    #expect(throws: FormatFlaw.self) { try RecordEnvelope(parsing: (bytes + [0]).span.bytes) }
    for bit in 6..<16 {
      var changed = bytes
      changed[4 + bit / 8] |= 1 << (bit % 8)
      #expect(throws: FormatFlaw.self) { try RecordEnvelope(parsing: changed.span.bytes) }
    }
    for offset in 6..<8 {
      var changed = bytes
      changed[offset] = 1
      #expect(throws: FormatFlaw.self) { try RecordEnvelope(parsing: changed.span.bytes) }
    }
    var kindless = bytes
    kindless[0] = 0
    kindless[1] = 0
    #expect(throws: FormatFlaw.self) { try RecordEnvelope(parsing: kindless.span.bytes) }
  }

  @Test("a block's records come back, in every form of payload")
  func bodyRoundTrip() throws {
    var builder = BlockBuilder(first: LogPosition(7))
    let payloads: [RecordPayload] = [
      .retained([]), .retained([1]), .retained(Sample.payload(3, count: 70_000)),
      .erased(digest: [UInt8](repeating: 9, count: 32)),
      .retainedWithSalt([4, 5], salt: [UInt8](repeating: 8, count: 16)),
      .retainedWithSalt([], salt: [UInt8](repeating: 7, count: 16)),
    ]
    var expected: [LogRecord] = []
    for payload in payloads {
      let envelope = Sample.envelope(builder.next.value, presence: 0b11_1111)
      expected.append(LogRecord(position: builder.next, envelope: envelope, payload: payload))
      try builder.append(envelope, payload: payload)
    }
    #expect(builder.count == payloads.count)
    #expect(builder.next == LogPosition(13))
    #expect(builder.rawBytes == expected.reduce(0) { $0 + $1.rawBytes })
    let records = try LogRecord.parseAll(builder.raw.span.bytes, first: builder.first, count: builder.count)
    #expect(records == expected)
  }

  @Test("an erased payload leaves the envelope's bytes as they were")
  func erasureKeepsEnvelope() throws {
    let envelope = Sample.envelope(1, presence: 0b11_1111)
    var retained = BlockBuilder(first: .first)
    var erased = BlockBuilder(first: .first)
    try retained.append(envelope, payload: [UInt8](repeating: 1, count: 32))
    try erased.append(envelope, payload: .erased(digest: [UInt8](repeating: 1, count: 32)))
    #expect(retained.raw[4] == 0)
    #expect(erased.raw[4] == 1)
    #expect(retained.raw[5...] == erased.raw[5...])
    #expect(Array(retained.raw[8..<8 + envelope.encodedBytes]) == envelope.encoded())
  }

  @Test("no change of one byte in a block's records traps, and none is read as the same records")
  func hostileBodies() throws {
    let builder = try Sample.block(after: .origin, records: 3, payloadBytes: 9)
    let records = try LogRecord.parseAll(builder.raw.span.bytes, first: .first, count: 3)
    for offset in builder.raw.indices {
      for value in [UInt8(0), 1, 0x7f, 0x80, 0xff] where value != builder.raw[offset] {
        var changed = builder.raw
        changed[offset] = value
        let parsed = try? LogRecord.parseAll(changed.span.bytes, first: .first, count: 3)
        #expect(parsed != records)
      }
    }
    for length in 0..<builder.raw.count {
      #expect(throws: FormatFlaw.self) {
        try LogRecord.parseAll(Array(builder.raw[..<length]).span.bytes, first: .first, count: 3)
      }
    }
    for count in [0, 1, 2, 4, Int.max] {
      #expect(throws: FormatFlaw.self) {
        try LogRecord.parseAll(builder.raw.span.bytes, first: .first, count: count)
      }
    }
  }

  @Test("a payload's length is refused one above its limit")
  func payloadLimit() throws {
    for (count, isAccepted) in [
      (LogFormat.maximumPayloadBytes - 1, true), (LogFormat.maximumPayloadBytes, true),
      (LogFormat.maximumPayloadBytes + 1, false),
    ] {
      var builder = BlockBuilder(first: .first)
      let payload = [UInt8](repeating: 1, count: count)
      if isAccepted {
        try builder.append(Sample.envelope(1), payload: payload)
        #expect(builder.count == 1)
      } else {
        let error = logError { try builder.append(Sample.envelope(1), payload: payload) }
        #expect(error?.code == .tooLarge)
        #expect(builder.isEmpty && builder.rawBytes == 0)
      }
    }
  }

  @Test("a block's length is refused one above its limit")
  func blockLimit() throws {
    let envelope = Sample.envelope(1)
    let overhead = LogFormat.recordHeaderBytes + envelope.encodedBytes
    for excess in -1...1 {
      var builder = BlockBuilder(first: .first)
      for _ in 0..<3 { try builder.append(envelope, payload: [UInt8](repeating: 0, count: 1024 * 1024)) }
      let rest = BlockBuilder.maximumRawBytes - builder.rawBytes - overhead + excess
      let payload = [UInt8](repeating: 0, count: rest)
      if excess <= 0 {
        try builder.append(envelope, payload: payload)
        #expect(builder.rawBytes == BlockBuilder.maximumRawBytes + excess)
      } else {
        #expect(logError { try builder.append(envelope, payload: payload) }?.code == .tooLarge)
        #expect(builder.count == 3)
      }
    }
  }

  @Test("a record that no reader would accept is not taken")
  func invalidRecords() throws {
    var builder = BlockBuilder(first: .first)
    var kindless = Sample.envelope(1)
    kindless.kind = 0
    #expect(logError { try builder.append(kindless, payload: []) }?.code == .invalidRecord)
    #expect(
      logError { try builder.append(Sample.envelope(1), payload: .erased(digest: [1])) }?.code == .invalidRecord)
    #expect(
      logError { try builder.append(Sample.envelope(1), payload: .retainedWithSalt([], salt: [1])) }?.code
        == .invalidRecord)
    try builder.append(Sample.envelope(2), payload: [])
    #expect(logError { try builder.append(Sample.envelope(1), payload: []) }?.code == .invalidRecord)
    #expect(builder.count == 1)
  }
}
