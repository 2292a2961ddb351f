import ChatPrimitives
import EventLogSimulation

@testable import EventLog

/// Sealed logs that the tests share.
enum SealedSample {
  /// A log of many small blocks in several segments. The first segments are sealed.
  /// - Parameter unsealed: the number of full segments that are not sealed.
  static func log(
    records: Int = 600, segmentBytes: Int = 16 * 1024, unsealed: Int = 0
  ) throws -> SimulatedDisk {
    let disk = SimulatedDisk()
    let log = try EmbeddedLog.open(
      directory: dataDirectory, disk: disk, options: Sample.options(segmentBytes: segmentBytes))
    while log.head.value < UInt64(records) { try append(to: log) }
    while try log.segmentsToSeal() > unsealed { _ = try log.sealNext() }
    try log.close()
    return SimulatedDisk(disk.files)
  }

  /// Appends a block of one to nine records: by registered authors, by others, and erased ones.
  static func append(to log: EmbeddedLog) throws {
    var builder = BlockBuilder(first: log.head.next)
    for _ in 0..<log.head.value % 9 + 1 {
      let record = record(builder.next.value)
      try builder.append(record.envelope, payload: record.payload)
    }
    try log.append(builder)
  }

  /// The record at a position. The first twelve register users; the others belong to these users or to nobody.
  static func record(_ number: UInt64) -> LogRecord {
    var envelope = Sample.envelope(number, presence: Int(number % 64))
    var payload: RecordPayload = .retained([0x0a, 100] + Sample.payload(number, count: 100, compressible: false))
    if number <= 12 {
      envelope = RecordEnvelope(
        kind: 1, payloadVersion: 1, streamKind: 1, stream: user(number), streamVersion: StreamVersion(1),
        time: envelope.time, actor: user(number))
      let key = Sample.payload(number, count: CommitmentKey.byteCount, compressible: false)
      payload = .retained([0x2a, UInt8(key.count)] + key)
    } else if number % 3 != 0 {
      envelope.actor = user(number % 12 + 1)
    }
    return LogRecord(position: LogPosition(number), envelope: envelope, payload: payload)
  }

  static func user(_ number: UInt64) -> UUIDBytes { UUIDBytes(high: 0xaaaa, low: number) }

  /// A different key that signs for the log of `log()`.
  static func foreignKey(_ identity: LogIdentity) throws -> CheckpointKey {
    try CheckpointKey(identity: identity, seed: [UInt8](repeating: 9, count: CheckpointKey.seedBytes))
  }

  static func key(_ disk: SimulatedDisk) throws -> CheckpointKey {
    let reader = try LogReader.open(directory: dataDirectory, disk: disk)
    let key = try CheckpointKey.load(directory: dataDirectory, identity: reader.identity, disk: disk)
    guard let key else { throw LogError(.missing, "the sample has no key") }
    return key
  }
}
