import ChatPrimitives

/// Collects the records of one dense block by column. See `docs/log-format.md`, "Columns".
struct ColumnWriter {
  /// The size of the columns, in bytes, at which a block is closed. It is small, so that reading one record decodes
  /// little.
  static let targetBytes = 64 * 1024

  private let numbers: [UUIDBytes: Int]
  private var shapes: [RecordShape: Int] = [:]
  private var shapeList: [UInt8] = []
  private var shapeOfRecord: [UInt8] = []
  /// The columns of the references: stream, actor, service, device, subject, command.
  private var references: [[UInt8]] = Array(repeating: [], count: Columns.references)
  private var versions: [UInt8] = []
  private var times: [UInt8] = []
  private var originalTimes: [UInt8] = []
  private var lengths: [UInt8] = []
  private var fresh = FreshUUIDs()
  /// The content of each shape.
  private var contents: [[UInt8]] = []
  private var lastVersions: [StreamKey: UInt64] = [:]
  private var lastTime: Int64 = 0
  private var lastOriginalTime: Int64 = 0

  private(set) var count = 0
  /// An estimate of the size of the result of `finished`, in bytes.
  private(set) var bytes = 0

  /// - Parameter numbers: the numbers of the UUIDs in the segment's table.
  init(numbers: [UUIDBytes: Int]) {
    self.numbers = numbers
  }

  /// A writer for the same segment without records.
  func emptied() -> ColumnWriter { ColumnWriter(numbers: numbers) }

  mutating func append(_ record: LogRecord) {
    let envelope = record.envelope
    let (wrapping, start) = record.payload.retained.map { PayloadWrapping.of($0) } ?? (.none, 0)
    let shape = RecordShape(record, wrapping: wrapping)
    let number = number(of: shape)
    shapeOfRecord.append(variable: number)
    for (column, uuid) in envelope.uuidFields.enumerated() {
      if let uuid { append(uuid, toColumn: column, at: envelope.originalTime ?? envelope.time) }
    }
    let key = StreamKey(kind: envelope.streamKind, stream: envelope.stream)
    let version = envelope.streamVersion.value
    versions.append(
      difference: Int64(bitPattern: version), from: Int64(bitPattern: lastVersions[key, default: 0] &+ 1))
    lastVersions[key] = version
    times.append(difference: envelope.time.milliseconds, from: lastTime)
    lastTime = envelope.time.milliseconds
    if let original = envelope.originalTime {
      originalTimes.append(difference: original.milliseconds, from: lastOriginalTime)
      lastOriginalTime = original.milliseconds
    }
    switch record.payload {
    case .erased(let digest):
      contents[number].append(contentsOf: digest)
    case .retained(let payload):
      lengths.append(variable: payload.count - start)
      contents[number].append(contentsOf: payload[start...])
    case .retainedWithSalt(let payload, let salt):
      lengths.append(variable: payload.count - start)
      contents[number].append(contentsOf: salt)
      contents[number].append(contentsOf: payload[start...])
    }
    count += 1
    bytes += Columns.defaultRecordBytes + record.payload.encodedBytes
  }

  /// Returns all columns, one after the other.
  func finished() -> [UInt8] {
    var body: [UInt8] = []
    body.reserveCapacity(bytes + bytes / 2)
    func put(_ column: [UInt8]) {
      body.append(variable: column.count)
      body.append(contentsOf: column)
    }
    put(shapeList)
    put(shapeOfRecord)
    references.forEach(put)
    put(versions)
    put(times)
    put(originalTimes)
    put(lengths)
    put(fresh.encoded())
    put(Array(contents.joined()))
    return body
  }

  private mutating func number(of shape: RecordShape) -> Int {
    if let known = shapes[shape] { return known }
    let number = shapes.count
    shapes[shape] = number
    shape.append(to: &shapeList)
    contents.append([])
    return number
  }

  private mutating func append(_ uuid: UUIDBytes, toColumn column: Int, at time: Timestamp) {
    if let number = numbers[uuid] {
      references[column].append(variable: number + 1)
    } else {
      references[column].append(variable: 0)
      fresh.append(uuid, at: time)
      bytes += UUIDBytes.byteCount
    }
  }
}

/// The constants that the writer and the reader of columns share.
enum Columns {
  /// The number of columns of references: stream, actor, service, device, subject, command.
  static let references = 6
  /// The approximate size of a record without its payload, in bytes.
  static let defaultRecordBytes = 12
  /// The minimum size of a record, in bytes: shape, stream, version, time, and a byte of content or length.
  static let minimumRecordBytes = 5
}

/// A stream and its kind.
struct StreamKey: Hashable {
  var kind: UInt8
  var stream: UUIDBytes
}

extension RecordEnvelope {
  /// The UUIDs in the order of the columns.
  var uuidFields: [UUIDBytes?] { [stream, actor, service, device, subject, command] }
}
