import ChatPrimitives

@testable import EventLog

/// The first position of every block that is tried.
private let blockFirst = LogPosition(1_000_003)

/// Tries a block of rows. The input: codec (1 byte), number of records (2), raw length (3), body.
func fuzzRows(_ input: [UInt8]) {
  var input = InputBytes(input)
  let codec = input.byte() & 1 == 0 ? BlockCodec.stored : .lz4
  let count = input.number(bytes: 2)
  let raw = input.number(bytes: 3)
  let body = Array(input.rest)
  tryRows(body, codec, count: count, raw: codec == .stored ? body.count : raw)
  // The number of records that follows from their lengths.
  if codec == .stored { tryRows(body, codec, count: recordCount(of: body), raw: body.count) }
}

private func tryRows(_ body: [UInt8], _ codec: BlockCodec, count: Int, raw: Int) {
  guard let (header, frame) = frame(body, codec, count: count, raw: raw),
    let records = try? header.records(frame.span.bytes),
    let rows = try? header.body(frame.span.bytes, tables: nil)
  else { return }
  demand(records.count == count, "a block holds as many records as its header says")
  demand(records.map(\.position) == (0..<count).map { blockFirst.advanced(by: $0) }, "positions are dense")
  demand(records.flatMap(encodedRow) == rows, "rows that parse encode to the same bytes")
  demand(records.reduce(0) { $0 + $1.rawBytes } == rows.count, "records know their length")
  buildAgain(records, rows)
  compressAgain(rows)
  throughColumns(records)
}

/// Tries a block of columns. The input: codec (1 byte), number of records (2), raw length (3), entries of the table
/// (1), length of the dictionary (2), table, dictionary, body.
func fuzzColumns(_ input: [UInt8]) {
  var input = InputBytes(input)
  let codec = input.byte() & 1 == 0 ? BlockCodec.columnsStored : .columnsLZ4
  let count = input.number(bytes: 2)
  let raw = input.number(bytes: 3)
  let entries = input.number(bytes: 1)
  let dictionaryBytes = input.number(bytes: 2)
  let tableBytes = input.take(entries * UUIDBytes.byteCount)
  let dictionary = input.take(dictionaryBytes)
  let body = Array(input.rest)
  guard let table = try? UUIDTable(parsing: tableBytes.resized(to: entries * UUIDBytes.byteCount)) else { return }
  let tables = ColumnTables(dictionary: dictionary, table: table)
  tryColumns(body, codec, tables, count: count, raw: codec == .columnsStored ? body.count : raw)
  if codec == .columnsStored { tryColumns(body, codec, tables, count: shapedRecords(of: body), raw: body.count) }
}

private func tryColumns(_ body: [UInt8], _ codec: BlockCodec, _ tables: ColumnTables, count: Int, raw: Int) {
  guard let (header, frame) = frame(body, codec, count: count, raw: raw),
    let records = try? header.records(frame.span.bytes, tables: tables)
  else { return }
  demand(records.count == count, "a block holds as many records as its header says")
  demand(records.map(\.position) == (0..<count).map { blockFirst.advanced(by: $0) }, "positions are dense")
  let rows = records.flatMap(encodedRow)
  let parsed = try? LogRecord.parseAll(rows.span.bytes, first: blockFirst, count: count)
  demand(parsed == records, "records from columns are valid as rows")
  throughColumns(records, table: tables.table)
}

// MARK: - Frames

/// The block as in a file, with a header whose checksums match; nil if the header is rejected.
private func frame(
  _ body: [UInt8], _ codec: BlockCodec, count: Int, raw: Int
) -> (header: BlockHeader, frame: [UInt8])? {
  let header = BlockHeader(
    codec: codec, salt: 7, first: blockFirst, knownDurable: LogPosition(blockFirst.value - 1), count: count,
    rawBytes: raw, storedBytes: body.count, bodyChecksum: CRC32C.of(body.span.bytes), chain: 11)
  var frame = [UInt8](repeating: 0, count: LogFormat.blockHeaderBytes)
  _ = frame.withUnsafeMutableBytes { header.encode(into: $0) }
  guard let parsed = try? BlockHeader(parsing: frame.span.bytes) else { return nil }
  demand(parsed == header, "a block header survives its bytes")
  frame = (frame + body).resized(to: header.frameBytes)
  do {
    try header.check(frame.span.bytes)
  } catch {
    fatalError("a whole block with right checksums is refused: \(error.reason)")
  }
  return (header, frame)
}

/// The number of records that follow one another according to their lengths.
private func recordCount(of body: [UInt8]) -> Int {
  var offset = 0
  var count = 0
  while let length = body.span.bytes.integer(at: offset, as: UInt32.self), length > 0,
    offset + Int(length) <= body.count
  {
    offset += Int(length)
    count += 1
  }
  return count
}

/// The number of records that have a shape, according to the second column.
private func shapedRecords(of body: [UInt8]) -> Int {
  var cursor = ByteCursor(body)
  do {
    for _ in 0..<1 { _ = try cursor.take(cursor.count(limit: cursor.remaining)) }
    let shapes = try cursor.take(cursor.count(limit: cursor.remaining))
    return shapes.withRemaining { bytes in bytes.count { $0 < 0x80 } }
  } catch {
    return 0
  }
}

// MARK: - Round trips

/// The row of a record. This follows docs/log-format.md and does not use the code under test.
private func encodedRow(_ record: LogRecord) -> [UInt8] {
  let envelope = record.envelope.encoded()
  let form: UInt8
  let tail: [UInt8]
  switch record.payload {
  case .retained(let payload): (form, tail) = (0, payload)
  case .erased(let digest): (form, tail) = (1, digest)
  case .retainedWithSalt(let payload, let salt): (form, tail) = (2, salt + payload)
  }
  var head = [UInt8](repeating: 0, count: LogFormat.recordHeaderBytes)
  head.write(UInt32(head.count + envelope.count + tail.count), at: 0)
  head.write(form, at: 4)
  head.write(UInt16(envelope.count), at: 6)
  return head + envelope + tail
}

private func buildAgain(_ records: [LogRecord], _ rows: [UInt8]) {
  let times = records.map(\.envelope.time)
  let isInOrder = zip(times, times.dropFirst()).allSatisfy { $0 <= $1 }
  var builder = BlockBuilder(first: blockFirst)
  do {
    for record in records { try builder.append(record.envelope, payload: record.payload) }
  } catch {
    demand(!isInOrder, "a builder takes records that parse, where their times do not decrease: \(error)")
    return
  }
  demand(isInOrder && builder.raw == rows, "a builder makes the same rows")
}

private func compressAgain(_ rows: [UInt8]) {
  var stored = [UInt8](repeating: 0, count: BlockCodec.bound(rawBytes: rows.count))
  let (codec, count) = stored.withUnsafeMutableBytes { target in
    rows.withUnsafeBytes { BlockCodec.encode($0, into: target) }
  }
  let body = stored.resized(to: count)
  demand((try? codec.decode(body.span.bytes, rawBytes: rows.count)) == rows, "what was compressed decodes to itself")
}

/// Writes records as columns and reads them back, with the table that the segment would have and with a given table.
private func throughColumns(_ records: [LogRecord], table given: UUIDTable? = nil) {
  guard !records.isEmpty else { return }
  var census = UUIDCensus()
  for record in records { census.count(record.envelope) }
  let (bytes, numbers) = census.table()
  guard let table = try? UUIDTable(parsing: bytes) else { fatalError("a table that was made does not parse") }
  demand(table.distinctNumbers == numbers, "a table that was made names no UUID twice")
  var pairs = [(table, numbers)]
  // A table with a duplicate UUID is skipped, because no writer makes one.
  if let given, let numbers = given.distinctNumbers { pairs.append((given, numbers)) }
  for (table, numbers) in pairs {
    var writer = ColumnWriter(numbers: numbers)
    for record in records { writer.append(record) }
    let body = writer.finished()
    do {
      let again = try ColumnReader.records(body, table: table, first: blockFirst, count: records.count)
      demand(again == records, "records survive columns")
    } catch {
      fatalError("columns that were written do not parse: \(error.reason)")
    }
  }
}
