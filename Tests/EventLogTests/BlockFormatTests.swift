import ChatPrimitives
import Testing

@testable import EventLog

@Suite("Blocks and headers")
struct BlockFormatTests {
  @Test("the checksum is CRC-32C: the check value of RFC 3720")
  func checksum() {
    let digits = Array("123456789".utf8)
    #expect(CRC32C.of(digits.span.bytes) == 0xe306_9283)
    #expect(CRC32C.of([UInt8](repeating: 0, count: 32).span.bytes) == 0x8a91_36aa)
    #expect(CRC32C.of([UInt8](repeating: 0xff, count: 32).span.bytes) == 0x62a8_ab43)
  }

  @Test("a block comes back, its payloads repetitive or random", arguments: [true, false])
  func roundTrip(compressible: Bool) throws {
    let builder = try Sample.block(after: .origin, records: 20, payloadBytes: 300, compressible: compressible)
    var frame = BlockFrame()
    let header = frame.seal(frame.encode(builder, knownDurable: .origin), salt: 5, chain: 6)
    let bytes = frame.withBytes { [UInt8]($0) }
    #expect(bytes.count == header.frameBytes && bytes.count % 8 == 0)
    let read = try BlockHeader(parsing: bytes.span.bytes.extracting(..<64))
    #expect(read == header)
    #expect(header.codec == .lz4)
    #expect(compressible == (header.storedBytes < builder.rawBytes / 3))
    try read.check(bytes.span.bytes)
    let expected = try LogRecord.parseAll(builder.raw.span.bytes, first: .first, count: 20)
    #expect(try read.records(bytes.span.bytes) == expected)
  }

  @Test("random payloads are stored as they are")
  func storedCodec() throws {
    var builder = BlockBuilder(first: .first)
    try builder.append(Sample.envelope(1), payload: Sample.payload(1, count: 20_000, compressible: false))
    var frame = BlockFrame()
    let header = frame.encode(builder, knownDurable: .origin)
    #expect(header.codec == .stored)
    #expect(header.storedBytes == builder.rawBytes)
  }

  @Test("a frame's padding is zero also after a longer block")
  func paddingIsZero() throws {
    var frame = BlockFrame()
    _ = frame.encode(try Sample.block(after: .origin, records: 50, compressible: false), knownDurable: .origin)
    for payloadBytes in 0..<8 {
      let builder = try Sample.block(after: .origin, records: 1, payloadBytes: payloadBytes, compressible: false)
      let header = frame.seal(frame.encode(builder, knownDurable: .origin), salt: 1, chain: 1)
      let bytes = frame.withBytes { [UInt8]($0) }
      try header.check(bytes.span.bytes)
    }
  }

  @Test("a block header is refused after a flip of any bit")
  func everyHeaderBit() throws {
    let builder = try Sample.block(after: LogPosition(9), records: 2)
    var frame = BlockFrame()
    let header = frame.seal(frame.encode(builder, knownDurable: LogPosition(9)), salt: 5, chain: 6)
    let bytes = frame.withBytes { [UInt8]($0) }
    for bit in 0..<bytes.count * 8 {
      var changed = bytes
      changed[bit / 8] ^= 1 << (bit % 8)
      #expect(throws: FormatFlaw.self) {
        let read = try BlockHeader(parsing: changed.span.bytes.extracting(..<64))
        try header.check(changed.span.bytes)
        try read.check(changed.span.bytes)
      }
    }
  }

  @Test("a header whose checksum holds is refused when a field is out of bounds")
  func boundsOfHeader() throws {
    let good = BlockHeader(
      codec: .lz4, salt: 1, first: LogPosition(10), knownDurable: LogPosition(9), count: 2, rawBytes: 200,
      storedBytes: 100, bodyChecksum: 3, chain: 4)
    func parsed(_ change: (inout BlockHeader) -> Void) throws -> BlockHeader {
      var header = good
      change(&header)
      var bytes = [UInt8](repeating: 0, count: 64)
      bytes.withUnsafeMutableBytes { _ = header.encode(into: $0) }
      return try BlockHeader(parsing: bytes.span.bytes)
    }
    #expect(try parsed { _ in } == good)
    #expect(try parsed { $0.count = 4 }.count == 4)
    #expect(throws: FormatFlaw.self) { try parsed { $0.count = 5 } }
    #expect(throws: FormatFlaw.self) { try parsed { $0.count = 0 } }
    #expect(throws: FormatFlaw.self) { try parsed { $0.first = .origin } }
    #expect(throws: FormatFlaw.self) { try parsed { $0.knownDurable = LogPosition(10) } }
    #expect(throws: FormatFlaw.self) { try parsed { $0.storedBytes = 200 } }
    #expect(throws: FormatFlaw.self) { try parsed { $0.storedBytes = 0 } }
    #expect(throws: FormatFlaw.self) { try parsed { $0.codec = .stored } }
    #expect(try parsed { $0.rawBytes = LogFormat.maximumRawBytes }.rawBytes == LogFormat.maximumRawBytes)
    #expect(throws: FormatFlaw.self) { try parsed { $0.rawBytes = LogFormat.maximumRawBytes + 1 } }
    #expect(try parsed { $0.first = LogFormat.maximumPosition }.first == LogFormat.maximumPosition)
    #expect(throws: FormatFlaw.self) { try parsed { $0.first = LogFormat.maximumPosition.next } }
  }

  @Test("an intact header of another version is told apart from damage")
  func otherVersion() throws {
    var bytes = [UInt8](repeating: 0, count: 64)
    let header = BlockHeader(
      codec: .lz4, salt: 1, first: .first, knownDurable: .origin, count: 1, rawBytes: 100, storedBytes: 50,
      bodyChecksum: 0, chain: 0)
    bytes.withUnsafeMutableBytes { _ = header.encode(into: $0) }
    bytes[4] = 2
    #expect(logFlaw(bytes)?.kind == .damaged)
    let checksum = CRC32C.of(bytes.span.bytes.extracting(..<60))
    bytes.withUnsafeMutableBytes { $0.put(checksum, at: 60) }
    #expect(logFlaw(bytes)?.kind == .unknownVersion)
  }

  private func logFlaw(_ bytes: [UInt8]) -> FormatFlaw? {
    do throws(FormatFlaw) {
      _ = try BlockHeader(parsing: bytes.span.bytes)
      return nil
    } catch {
      return error
    }
  }

  @Test("LZ4 bytes that do not decode to the raw length are refused")
  func hostileLZ4() throws {
    for bytes: [UInt8] in [[], [0xff], [0xf0, 0xff, 0xff, 0xff], [0x1f, 1, 0, 0, 0xff], [0x00]] {
      for rawBytes in [0, 1, 100, LogFormat.maximumRawBytes] where !(bytes == [0x00] && rawBytes == 0) {
        #expect(throws: FormatFlaw.self) { try BlockCodec.lz4.decode(bytes.span.bytes, rawBytes: rawBytes) }
      }
    }
  }

  @Test("a segment header comes back, and is refused after a change of any byte")
  func segmentHeader() throws {
    let header = SegmentHeader(
      identity: LogIdentity(bytes: UUIDBytes(high: 1, low: 2)), first: LogPosition(77), salt: 3, created: Sample.time,
      previousChecksum: 4, segmentBytes: 8192, lastTime: Sample.time)
    let (bytes, checksum) = header.encoded()
    #expect(try SegmentHeader(parsing: bytes.span.bytes) == header)
    #expect(SegmentHeader.checksum(in: bytes.span.bytes) == checksum)
    for offset in bytes.indices {
      var changed = bytes
      changed[offset] ^= 1 << (offset % 8)
      #expect(throws: FormatFlaw.self) { try SegmentHeader(parsing: changed.span.bytes) }
    }
  }

  @Test("the newer superblock counts, and the older when the newer is torn")
  func superblocks() throws {
    let identity = LogIdentity(bytes: UUIDBytes(high: 1, low: 2))
    var file = Superblock.newFile(identity: identity)
    #expect(try Superblock.newest(in: file.span.bytes).sequence == 1)
    let next = Superblock(identity: identity, sequence: 2, durable: LogPosition(40))
    #expect(Superblock.offset(sequence: 2) == 0)
    file.replaceSubrange(0..<512, with: next.encoded())
    #expect(try Superblock.newest(in: file.span.bytes) == next)
    file[45] ^= 1
    #expect(try Superblock.newest(in: file.span.bytes).sequence == 1)
    file[4096 + 45] ^= 1
    #expect(throws: FormatFlaw.self) { try Superblock.newest(in: file.span.bytes) }
  }

  @Test("a segment's name is its first position in 20 digits")
  func names() {
    #expect(SegmentName.of(.first) == "00000000000000000001.seg")
    #expect(SegmentName.position("00000000000000000001.seg") == .first)
    for name in [
      "1.seg", "00000000000000000000.seg", "99999999999999999999.seg", "0000000000000000000a.seg",
      "+0000000000000000001.seg", "00000000000000000001.tmp", "superblock",
    ] {
      #expect(SegmentName.position(name) == nil)
    }
  }
}
