import ChatPrimitives
import EventLogSimulation
import Testing

@testable import EventLog

@Suite("Columns of sealed blocks")
struct ColumnTests {
  /// Records of every form, with every combination of fields, wrapped and bare payloads, and numbers at their limits.
  private static func records(_ count: Int, seed: UInt64) -> [LogRecord] {
    var random = SeededRandom(seed: seed)
    return (1...UInt64(count)).map { number in
      var envelope = Sample.envelope(number, presence: random.below(64))
      envelope.streamKind = UInt8(random.below(3))
      if random.isOne(in: 9) { envelope.streamVersion = StreamVersion(random.isOne(in: 2) ? .max : 0) }
      if random.isOne(in: 11) { envelope.time = Timestamp(milliseconds: random.isOne(in: 2) ? .max : .min) }
      if random.isOne(in: 11), envelope.originalTime != nil { envelope.originalTime = Timestamp(milliseconds: .min) }
      let text = Sample.payload(number, count: random.below(300), compressible: random.isOne(in: 2))
      let payload: RecordPayload =
        switch random.below(5) {
        case 0: .erased(digest: Sample.payload(number, count: 32, compressible: false))
        case 1: .retainedWithSalt(text, salt: Sample.payload(number, count: 16, compressible: false))
        case 2: .retained(text)
        default: .retained(PayloadWrapping(tag: 0x0a)?.wrap(ByteCursor(text)) ?? [])
        }
      return LogRecord(position: LogPosition(number), envelope: envelope, payload: payload)
    }
  }

  private static func write(_ records: [LogRecord]) throws -> (body: [UInt8], table: UUIDTable) {
    var census = UUIDCensus()
    for record in records { census.count(record.envelope) }
    let (bytes, numbers) = census.table()
    var writer = ColumnWriter(numbers: numbers)
    for record in records { writer.append(record) }
    return (writer.finished(), try UUIDTable(parsing: bytes))
  }

  private func read(_ body: [UInt8], _ table: UUIDTable, _ count: Int) throws -> [LogRecord] {
    try ColumnReader.records(body, table: table, first: .first, count: count)
  }

  @Test("every record comes back bit for bit", arguments: 1...12 as ClosedRange<UInt64>)
  func roundTrip(seed: UInt64) throws {
    let records = Self.records(Int(seed * seed), seed: seed)
    let (body, table) = try Self.write(records)
    let back = try read(body, table, records.count)
    #expect(back == records)
    #expect(back.map { $0.envelope.encoded() } == records.map { $0.envelope.encoded() })
  }

  @Test("a body that holds fewer or more than its records is refused")
  func counts() throws {
    let records = Self.records(40, seed: 5)
    let (body, table) = try Self.write(records)
    for count in [0, 39, 41] { #expect(throws: FormatFlaw.self) { try read(body, table, count) } }
    #expect(throws: FormatFlaw.self) { try read(body + [0], table, 40) }
    for length in stride(from: 0, to: body.count, by: 7) {
      #expect(throws: FormatFlaw.self) { try read(Array(body[..<length]), table, 40) }
    }
    #expect(throws: FormatFlaw.self) { try read(body, UUIDTable(parsing: []), 40) }
  }

  @Test("a shape that no record has is refused")
  func unusedShape() throws {
    let (body, table) = try Self.write([Self.records(1, seed: 3)[0]])
    #expect(body[0] == 8)
    let extra = [16] + body[1...8] + body[1...8] + body[9...]
    #expect(throws: FormatFlaw.self) { try read(Array(extra), table, 1) }
  }

  @Test("a payload of one field loses tag and length, and any other keeps them")
  func wrapping() throws {
    #expect(PayloadWrapping.of([0x0a, 2, 1, 2]).wrapping.tag == 0x0a)
    #expect(PayloadWrapping.of([0x0a, 2, 1, 2]).contentStart == 2)
    #expect(PayloadWrapping.of([0x0a, 0]).contentStart == 2)
    let long = [0x7a, 0x80, 1] + [UInt8](repeating: 7, count: 128)
    #expect(PayloadWrapping.of(long).contentStart == 3)
    for bare: [UInt8] in [
      [], [0x0a], [0x0a, 2, 1], [0x0a, 2, 1, 2, 3], [0x08, 1], [0x82, 1, 1], [0, 1, 1], [0x0a, 0x81, 0, 1],
    ] {
      #expect(PayloadWrapping.of(bare).wrapping == .none && PayloadWrapping.of(bare).contentStart == 0)
    }
    #expect(PayloadWrapping(tag: 0x08) == nil && PayloadWrapping(tag: 0x8a) == nil && PayloadWrapping(tag: 0x0a) != nil)
  }

  @Test("numbers have one form", arguments: [0, 1, 127, 128, 16_383, 16_384, 1 << 62, .max] as [UInt64])
  func numbers(value: UInt64) throws {
    var bytes: [UInt8] = []
    bytes.append(variable: value)
    #expect(bytes.count == VariableInteger.count(value))
    var cursor = ByteCursor(bytes)
    #expect(try cursor.variable() == value && cursor.isAtEnd)
    let signed = Int64(bitPattern: value)
    #expect(VariableInteger.unzigzag(VariableInteger.zigzag(signed)) == signed)
    var short = ByteCursor(Array(bytes.dropLast()))
    #expect(throws: FormatFlaw.self) { try short.variable() }
    bytes[bytes.count - 1] |= 0x80
    var long = ByteCursor(bytes + [0])
    #expect(throws: FormatFlaw.self) { try long.variable() }
  }

  @Test("a number of more than 64 bits is refused")
  func longNumber() {
    var cursor = ByteCursor([UInt8](repeating: 0xff, count: 9) + [2])
    #expect(throws: FormatFlaw.self) { try cursor.variable() }
  }

  @Test("fresh UUIDs come back, and bits beyond the last are zero", arguments: [0, 1, 7, 8, 9, 63, 64, 65, 130])
  func freshUUIDs(count: Int) throws {
    var random = SeededRandom(seed: UInt64(count))
    let time = Timestamp(milliseconds: -77)
    let uuids = (0..<count).map { _ in UUIDBytes(high: random.next(), low: random.next()) }
    var fresh = FreshUUIDs()
    for uuid in uuids { fresh.append(uuid, at: time) }
    let column = fresh.encoded()
    #expect(column.count == (count + 7) / 8 * 128)
    let back = try FreshUUIDs(parsing: ByteCursor(column))
    #expect((0..<count).map { back.uuid($0, at: time) } == uuids)
    #expect(back.isPadding(after: count))
    if count % 8 != 0 {
      var dirty = column
      dirty[column.count / 128 - 1] |= 1
      #expect(try FreshUUIDs(parsing: ByteCursor(dirty)).isPadding(after: count) == false)
    }
    #expect(throws: FormatFlaw.self) { try FreshUUIDs(parsing: ByteCursor(column + [0])) }
  }

  @Test("the first plane holds the first bits, the time is taken from the first 48 bits without a carry")
  func planes() throws {
    var fresh = FreshUUIDs()
    fresh.append(UUIDBytes(high: 0x0000_0000_0005_7abc, low: 1), at: Timestamp(milliseconds: 5))
    fresh.append(UUIDBytes(high: 0x0000_0000_0004_0000, low: 1 << 63), at: Timestamp(milliseconds: 5))
    let column = fresh.encoded()
    // The first UUID: time 0, then 7abc, then the lowest bit. The second: time 2^48 - 1, then zeros, then the highest
    // bit of the low half.
    #expect(column[0..<48].allSatisfy { $0 == 0b0100_0000 })
    var version: UInt64 = 0
    for plane in 48..<64 { version = version << 1 | UInt64(column[plane] >> 7) }
    #expect(version == 0x7abc)
    #expect(column[64] == 0b0100_0000 && column[127] == 0b1000_0000)
  }
}
