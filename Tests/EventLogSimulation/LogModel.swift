import ChatPrimitives
import EventLog

/// The expected content of a log: every record that was submitted, and the number of acknowledged records.
struct LogModel {
  /// The records in order from position 1. The last block may not be acknowledged.
  private(set) var submitted: [LogRecord] = []
  /// The last position that the log reported as durable.
  private(set) var acknowledged: UInt64 = 0
  /// The last durable position that the superblock must hold.
  private(set) var noted: UInt64 = 0
  /// The users whose erasure began, each with the last position up to which it is complete.
  private var erasures: [UUIDBytes: LogPosition] = [:]
  /// Counts blocks, so that a second attempt at a position differs from the first.
  private var attempt: UInt64 = 0

  private static let start: Int64 = 1_767_225_600_000

  var submittedHead: UInt64 { UInt64(submitted.count) }

  /// The recorded time of a position, which is the same for every attempt.
  static func time(_ position: UInt64) -> Timestamp {
    position == 0 ? .earliest : Timestamp(milliseconds: start + Int64(position / 3))
  }

  /// Returns the next block and counts it as submitted.
  mutating func submit(records: Int, payloadBytes: Int, isCompressible: Bool) throws(LogError) -> BlockBuilder {
    attempt += 1
    var builder = BlockBuilder(first: LogPosition(acknowledged + 1))
    submitted.removeLast(submitted.count - Int(acknowledged))
    for _ in 0..<records {
      let position = builder.next
      let envelope = envelope(position.value)
      let payload = payload(position.value, count: payloadBytes, isCompressible: isCompressible)
      try builder.append(envelope, payload: payload)
      submitted.append(LogRecord(position: position, envelope: envelope, payload: .retained(payload)))
    }
    return builder
  }

  mutating func acknowledge() { acknowledged = submittedHead }

  /// Call it when the log became idle, was opened or was closed.
  mutating func note() { noted = acknowledged }

  /// After opening, the recovered records count as durable, and the others as never written.
  mutating func reopen(at head: UInt64) {
    submitted.removeLast(submitted.count - Int(min(head, submittedHead)))
    acknowledged = head
  }

  /// The number of different streams.
  static let users = 5

  /// The owner of a stream, if it is a user's.
  static func user(_ number: UInt64) -> UUIDBytes { UUIDBytes(high: 7, low: number) }

  /// From now on, records in the user's stream can be erased. The user is the author of none.
  mutating func beginErasing(_ user: UUIDBytes) { erasures[user] = erasures[user] ?? .origin }

  /// Records of the user up to a position must be erased from now on.
  mutating func endErasing(_ user: UUIDBytes, through last: LogPosition) {
    erasures[user] = max(erasures[user] ?? .origin, last)
  }

  /// Whether a record is the submitted one, or what an erasure leaves of it.
  private func matches(_ record: LogRecord, _ submitted: LogRecord) -> Bool {
    let envelope = submitted.envelope
    guard envelope.streamKind == 1, let erased = erasures[envelope.stream], let payload = submitted.payload.retained,
      !payload.isEmpty
    else { return record == submitted }
    if record == submitted { return record.position > erased }
    let digest = MerkleTree.digest(salt: nil, payload: payload)
    return record.envelope == envelope && record.payload == .erased(digest: digest.bytes)
  }

  /// - Returns: the flaw of a block; nil if every record is as submitted.
  func flaw(in block: Block) -> String? {
    guard let first = block.records.first, first.position == block.first else {
      return "a block without its first record"
    }
    for (number, record) in block.records.enumerated() {
      let position = block.first.value + UInt64(number)
      guard position >= 1, position <= submittedHead else { return "position \(position) was never submitted" }
      guard matches(record, submitted[Int(position - 1)]) else {
        return "the record at position \(position) is another"
      }
    }
    return nil
  }

  private func envelope(_ position: UInt64) -> RecordEnvelope {
    func field(_ bit: UInt64) -> UUIDBytes? {
      (position ^ attempt) & (1 << bit) == 0 ? nil : UUIDBytes(high: bit, low: position)
    }
    return RecordEnvelope(
      kind: UInt16(position % 40 + 1), payloadVersion: 1, streamKind: UInt8(position % 3 + 1),
      stream: Self.user(position % UInt64(Self.users)), streamVersion: StreamVersion(position),
      time: Self.time(position), actor: field(0), service: field(3), device: field(2), subject: field(1),
      command: UUIDBytes(high: attempt, low: position),
      originalTime: position % 4 == 0 ? Timestamp(milliseconds: Int64(position)) : nil)
  }

  private func payload(_ position: UInt64, count: Int, isCompressible: Bool) -> [UInt8] {
    var random = SeededRandom(seed: attempt &* 1_000_003 &+ position)
    if isCompressible { return [UInt8](repeating: UInt8(random.below(256)), count: count) }
    var payload: [UInt8] = []
    payload.reserveCapacity(count + 8)
    while payload.count < count {
      withUnsafeBytes(of: random.next().littleEndian) { payload.append(contentsOf: $0) }
    }
    payload.removeLast(payload.count - count)
    return payload
  }
}
