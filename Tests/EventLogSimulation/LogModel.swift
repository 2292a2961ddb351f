import ChatPrimitives
import EventLog

/// What a log must hold: every record that was submitted, and how many of them are acknowledged.
struct LogModel {
  /// In order from position 1; the last block of them may not be acknowledged.
  private(set) var submitted: [LogRecord] = []
  /// The last position that the log has called durable.
  private(set) var acknowledged: UInt64 = 0
  /// The last position that the superblock was said to hold.
  private(set) var noted: UInt64 = 0
  /// Counts blocks, so that a second try at a position differs from the first.
  private var attempt: UInt64 = 0

  private static let start: Int64 = 1_767_225_600_000

  var submittedHead: UInt64 { UInt64(submitted.count) }

  /// Recorded time of a position, for every try at it the same.
  static func time(_ position: UInt64) -> Timestamp {
    position == 0 ? .earliest : Timestamp(milliseconds: start + Int64(position / 3))
  }

  /// The next block, from now on submitted.
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

  /// The log fell idle, was opened or was closed.
  mutating func note() { noted = acknowledged }

  /// What a log opens with is durable from then on; the rest was never there.
  mutating func reopen(at head: UInt64) {
    submitted.removeLast(submitted.count - Int(min(head, submittedHead)))
    acknowledged = head
  }

  /// - Returns: what is wrong with a block; nil when every record is what was submitted.
  func flaw(in block: Block) -> String? {
    guard let first = block.records.first, first.position == block.first else {
      return "a block without its first record"
    }
    for (number, record) in block.records.enumerated() {
      let position = block.first.value + UInt64(number)
      guard position >= 1, position <= submittedHead else { return "position \(position) was never submitted" }
      guard record == submitted[Int(position - 1)] else { return "the record at position \(position) is another" }
    }
    return nil
  }

  private func envelope(_ position: UInt64) -> RecordEnvelope {
    func field(_ bit: UInt64) -> UUIDBytes? {
      (position ^ attempt) & (1 << bit) == 0 ? nil : UUIDBytes(high: bit, low: position)
    }
    return RecordEnvelope(
      kind: UInt16(position % 40 + 1), payloadVersion: 1, streamKind: UInt8(position % 3 + 1),
      stream: UUIDBytes(high: 7, low: position % 5), streamVersion: StreamVersion(position),
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
