import ChatPrimitives

/// A block as it is in the file: header, body, and zeros up to the next multiple of eight. The buffer is kept from
/// one block to the next.
struct BlockFrame {
  private var bytes: [UInt8] = []
  /// Length of the block that was encoded last.
  private(set) var count = 0
  /// The checksum of its header.
  private(set) var headerChecksum: UInt32 = 0

  /// Encodes everything but what depends on the place in the file: that is `seal`'s part.
  mutating func encode(_ builder: BlockBuilder, knownDurable: LogPosition) -> BlockHeader {
    let headerBytes = LogFormat.blockHeaderBytes
    let needed = LogFormat.aligned(headerBytes + BlockCodec.bound(rawBytes: builder.rawBytes))
    if bytes.count < needed {
      bytes = [UInt8](repeating: 0, count: needed)
    }
    var header = BlockHeader(
      codec: .stored, salt: 0, first: builder.first, knownDurable: knownDurable, count: builder.count,
      rawBytes: builder.rawBytes, storedBytes: builder.rawBytes, bodyChecksum: 0, chain: 0)
    bytes.withUnsafeMutableBytes { target in
      let room = UnsafeMutableRawBufferPointer(rebasing: target[headerBytes...])
      builder.raw.withUnsafeBytes { raw in
        (header.codec, header.storedBytes) = BlockCodec.encode(raw, into: room)
      }
      header.bodyChecksum = CRC32C.of(UnsafeRawBufferPointer(rebasing: room[..<header.storedBytes]))
      for index in headerBytes + header.storedBytes..<header.frameBytes {
        target[index] = 0
      }
    }
    count = header.frameBytes
    return header
  }

  /// Writes the header, once it is known into which segment and after which block the frame goes.
  mutating func seal(_ header: BlockHeader, salt: UInt64, chain: UInt32) -> BlockHeader {
    var header = header
    header.salt = salt
    header.chain = chain
    headerChecksum = bytes.withUnsafeMutableBytes { header.encode(into: $0) }
    return header
  }

  /// Hands out the bytes that go to the file.
  func withBytes<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try bytes.span.bytes.extracting(..<count).withUnsafeBytes(body)
  }
}

// MARK: - Reading

extension BlockHeader {
  /// Checks a whole block: that its header is this one, the padding, and the body's checksum.
  func check(_ frame: RawSpan) throws(FormatFlaw) {
    let bodyEnd = LogFormat.blockHeaderBytes + storedBytes
    guard frame.byteCount == frameBytes else { throw FormatFlaw("the block is cut short") }
    guard CRC32C.of(frame.extracting(LogFormat.blockHeaderBytes..<bodyEnd)) == bodyChecksum else {
      throw FormatFlaw("the checksum of the block's body does not match")
    }
    guard frame.isZero(bodyEnd..<frameBytes) else { throw FormatFlaw("the padding after the block is not zero") }
  }

  /// The decompressed body of a block that `check` let pass.
  /// - Parameter tables: those of the segment, when it is sealed.
  func body(_ frame: RawSpan, tables: ColumnTables?) throws(FormatFlaw) -> [UInt8] {
    let bodyEnd = LogFormat.blockHeaderBytes + storedBytes
    return try codec.decode(
      frame.extracting(LogFormat.blockHeaderBytes..<bodyEnd), rawBytes: rawBytes, dictionary: tables?.dictionary ?? [])
  }

  /// The records of a block that `check` let pass.
  func records(_ frame: RawSpan, tables: ColumnTables? = nil) throws(FormatFlaw) -> [LogRecord] {
    let body = try body(frame, tables: tables)
    guard codec.isColumns else { return try LogRecord.parseAll(body.span.bytes, first: first, count: count) }
    guard let tables else { throw FormatFlaw("a block of columns is in an active segment") }
    return try ColumnReader.records(body, table: tables.table, first: first, count: count)
  }
}
