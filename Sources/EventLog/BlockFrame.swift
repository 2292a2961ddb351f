import ChatPrimitives

/// A block as it is in the file: the header, the body, and zeros up to the next multiple of eight. The buffer is reused
/// from block to block.
struct BlockFrame {
  private var bytes: [UInt8] = []
  /// The length of the block that was encoded last.
  private(set) var count = 0
  /// The checksum of that block's header.
  private(set) var headerChecksum: UInt32 = 0

  /// Encodes the body. `seal` writes the header, because the header depends on the location in the file.
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

  /// Writes the header, once the segment and the previous block are known.
  mutating func seal(_ header: BlockHeader, salt: UInt64, chain: UInt32) -> BlockHeader {
    var header = header
    header.salt = salt
    header.chain = chain
    headerChecksum = bytes.withUnsafeMutableBytes { header.encode(into: $0) }
    return header
  }

  /// Calls `body` with the bytes to write to the file.
  func withBytes<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try bytes.span.bytes.extracting(..<count).withUnsafeBytes(body)
  }
}

// MARK: - Reading

extension BlockHeader {
  /// Checks the length, the body's checksum and the padding of a whole block that has this header.
  func check(_ frame: RawSpan) throws(FormatFlaw) {
    let bodyEnd = LogFormat.blockHeaderBytes + storedBytes
    guard frame.byteCount == frameBytes else { throw FormatFlaw("the block is cut short") }
    guard CRC32C.of(frame.extracting(LogFormat.blockHeaderBytes..<bodyEnd)) == bodyChecksum else {
      throw FormatFlaw("the checksum of the block's body does not match")
    }
    guard frame.isZero(bodyEnd..<frameBytes) else { throw FormatFlaw("the padding after the block is not zero") }
  }

  /// Returns the decompressed body of a block that passed `check`.
  /// - Parameter tables: the tables of the segment if it is sealed.
  func body(_ frame: RawSpan, tables: ColumnTables?) throws(FormatFlaw) -> [UInt8] {
    let bodyEnd = LogFormat.blockHeaderBytes + storedBytes
    return try codec.decode(
      frame.extracting(LogFormat.blockHeaderBytes..<bodyEnd), rawBytes: rawBytes, dictionary: tables?.dictionary ?? [])
  }

  /// Returns the records of a block that passed `check`.
  func records(_ frame: RawSpan, tables: ColumnTables? = nil) throws(FormatFlaw) -> [LogRecord] {
    let body = try body(frame, tables: tables)
    guard codec.isColumns else { return try LogRecord.parseAll(body.span.bytes, first: first, count: count) }
    guard let tables else { throw FormatFlaw("a block of columns is in an active segment") }
    return try ColumnReader.records(body, table: tables.table, first: first, count: count)
  }
}
