import ChatPrimitives

/// Rebuilds the records of a dense block from its columns, bit for bit.
struct ColumnReader {
  private let table: UUIDTable
  private let shapes: [RecordShape]
  private var shapeNumbers: ByteCursor
  /// The columns of the references: stream, actor, service, device, subject, command.
  private var references: [ByteCursor] = []
  private var versions: ByteCursor
  private var times: ByteCursor
  private var originalTimes: ByteCursor
  private var lengths: ByteCursor
  private let fresh: FreshUUIDs
  private var content: ByteCursor

  private var freshTaken = 0
  private var lastVersions: [StreamKey: UInt64] = [:]
  private var lastTime: Int64 = 0
  private var lastOriginalTime: Int64 = 0

  /// - Parameter body: the decompressed columns.
  private init(_ body: [UInt8], table: UUIDTable) throws(FormatFlaw) {
    self.table = table
    var cursor = ByteCursor(body)
    func column() throws(FormatFlaw) -> ByteCursor {
      try cursor.take(cursor.count(limit: cursor.remaining))
    }
    var shapeColumn = try column()
    var shapes: [RecordShape] = []
    while !shapeColumn.isAtEnd { shapes.append(try RecordShape(parsing: &shapeColumn)) }
    self.shapes = shapes
    shapeNumbers = try column()
    for _ in 0..<Columns.references { references.append(try column()) }
    versions = try column()
    times = try column()
    originalTimes = try column()
    lengths = try column()
    fresh = try FreshUUIDs(parsing: column())
    content = try column()
    guard cursor.isAtEnd else { throw FormatFlaw("bytes follow the last column") }
  }

  /// Parses a block's records; the columns must hold exactly `count` of them.
  static func records(
    _ body: [UInt8], table: UUIDTable, first: LogPosition, count: Int
  ) throws(FormatFlaw) -> [LogRecord] {
    var reader = try ColumnReader(body, table: table)
    let outlines = try reader.outlines(count)
    var contents = try reader.contents(outlines)
    var records: [LogRecord] = []
    records.reserveCapacity(count)
    for (index, outline) in outlines.enumerated() {
      let shape = reader.shapes[outline.shape]
      do {
        let envelope = try reader.envelope(shape)
        let payload = try Self.payload(shape, outline.length, from: &contents[outline.shape])
        records.append(LogRecord(position: first.advanced(by: index), envelope: envelope, payload: payload))
      } catch {
        throw FormatFlaw("record \(index) of the block: \(error.reason)", kind: error.kind)
      }
    }
    guard reader.isAtEnd, contents.allSatisfy(\.isAtEnd) else {
      throw FormatFlaw("a column has more values than records")
    }
    return records
  }

  private var isAtEnd: Bool {
    references.allSatisfy(\.isAtEnd) && versions.isAtEnd && times.isAtEnd && originalTimes.isAtEnd && lengths.isAtEnd
      && shapeNumbers.isAtEnd && fresh.isPadding(after: freshTaken)
  }

  // MARK: Content

  /// A record's shape, and the number of bytes that its payload has in the content column.
  private struct Outline {
    var shape: Int
    var length: Int
  }

  private mutating func outlines(_ count: Int) throws(FormatFlaw) -> [Outline] {
    guard count <= shapeNumbers.remaining else { throw FormatFlaw("the block has fewer than \(count) records") }
    var outlines: [Outline] = []
    outlines.reserveCapacity(count)
    for _ in 0..<count {
      let number = try shapeNumbers.count(limit: shapes.count)
      guard number < shapes.count else { throw FormatFlaw("a record has the shape \(number) of \(shapes.count)") }
      let length = shapes[number].form == .erased ? 0 : try lengths.count(limit: LogFormat.maximumPayloadBytes)
      outlines.append(Outline(shape: number, length: length))
    }
    return outlines
  }

  /// The part of the content that belongs to each shape.
  private mutating func contents(_ outlines: [Outline]) throws(FormatFlaw) -> [ByteCursor] {
    var sizes = [Int](repeating: 0, count: shapes.count)
    // The sum has at most `LogFormat.maximumBlockRecords` lengths, each at most that of a payload, so it fits an Int
    // easily.
    var isUsed = [Bool](repeating: false, count: shapes.count)
    for outline in outlines {
      sizes[outline.shape] += shapes[outline.shape].form.extraBytes + outline.length
      isUsed[outline.shape] = true
    }
    guard isUsed.allSatisfy({ $0 }) else { throw FormatFlaw("a shape is not used by any record") }
    var contents: [ByteCursor] = []
    for size in sizes { contents.append(try content.take(size)) }
    guard content.isAtEnd else { throw FormatFlaw("bytes follow the last content") }
    return contents
  }

  private static func payload(
    _ shape: RecordShape, _ length: Int, from content: inout ByteCursor
  ) throws(FormatFlaw) -> RecordPayload {
    guard shape.wrapping.wrappedBytes(length) <= LogFormat.maximumPayloadBytes else {
      throw FormatFlaw("the payload is longer than \(LogFormat.maximumPayloadBytes) bytes")
    }
    switch shape.form {
    case .erased:
      return .erased(digest: try content.array(LogFormat.digestBytes))
    case .retained:
      return .retained(shape.wrapping.wrap(try content.take(length)))
    case .retainedWithSalt:
      let salt = try content.array(LogFormat.saltBytes)
      return .retainedWithSalt(shape.wrapping.wrap(try content.take(length)), salt: salt)
    }
  }

  // MARK: Envelope

  private mutating func envelope(_ shape: RecordShape) throws(FormatFlaw) -> RecordEnvelope {
    let has = RecordEnvelope.Fields(presence: shape.presence)
    lastTime = try times.difference(from: lastTime)
    var original: Timestamp?
    if has.originalTime {
      lastOriginalTime = try originalTimes.difference(from: lastOriginalTime)
      original = Timestamp(milliseconds: lastOriginalTime)
    }
    let time = original ?? Timestamp(milliseconds: lastTime)
    let stream = try uuid(column: 0, at: time)
    let actor = has.actor ? try uuid(column: 1, at: time) : nil
    let service = has.service ? try uuid(column: 2, at: time) : nil
    let device = has.device ? try uuid(column: 3, at: time) : nil
    let subject = has.subject ? try uuid(column: 4, at: time) : nil
    let command = has.command ? try uuid(column: 5, at: time) : nil
    let key = StreamKey(kind: shape.streamKind, stream: stream)
    let expected = lastVersions[key, default: 0] &+ 1
    let version = UInt64(bitPattern: try versions.difference(from: Int64(bitPattern: expected)))
    lastVersions[key] = version
    return RecordEnvelope(
      kind: shape.kind, payloadVersion: shape.payloadVersion, streamKind: shape.streamKind, stream: stream,
      streamVersion: StreamVersion(version), time: Timestamp(milliseconds: lastTime), actor: actor, service: service,
      device: device, subject: subject, command: command, originalTime: original)
  }

  /// - Parameter time: the record's time, to which a fresh UUID is relative.
  private mutating func uuid(column: Int, at time: Timestamp) throws(FormatFlaw) -> UUIDBytes {
    let reference = try references[column].count(limit: table.count)
    if reference > 0, let uuid = table[reference - 1] { return uuid }
    guard column > 0 else { throw FormatFlaw("the stream of a record is not in the table of UUIDs") }
    guard let uuid = fresh.uuid(freshTaken, at: time) else { throw FormatFlaw("a fresh UUID is missing") }
    freshTaken += 1
    return uuid
  }
}
