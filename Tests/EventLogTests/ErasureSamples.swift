import ChatPrimitives
import EventLogSimulation

@testable import EventLog

/// Erasures of one user of `SealedSample`.
enum ErasureSample {
  static let user = SealedSample.user(3)

  /// A plan that keeps the payloads of some kinds.
  static func plan(
    through last: LogPosition, users: [UUIDBytes] = [user],
    erases: @escaping @Sendable (RecordEnvelope, UUIDBytes) -> Bool = { envelope, _ in !keeps(envelope) }
  ) -> ErasurePlan {
    ErasurePlan(users: Dictionary(uniqueKeysWithValues: users.map { ($0, last) }), erases: erases)
  }

  static func keeps(_ envelope: RecordEnvelope) -> Bool { envelope.kind % 5 < 2 && envelope.streamKind != 1 }

  /// The records of a log after the erasure, by another implementation.
  static func expected(_ records: [LogRecord], keeping: (RecordEnvelope) -> Bool = keeps) throws -> [LogRecord] {
    try ErasedCopy(of: records, author: user, keeping: { keeping($0.envelope) }).records
  }

  static func open(_ disk: SimulatedDisk, segmentBytes: Int = 16 * 1024) throws -> EmbeddedLog {
    try EmbeddedLog.open(directory: dataDirectory, disk: disk, options: Sample.options(segmentBytes: segmentBytes))
  }

  /// Texts that only records of the user have, in the records whose payloads a plan erases.
  static func texts(_ records: [LogRecord]) -> [[UInt8]] {
    records.compactMap { record in
      guard record.envelope.actor == user, !keeps(record.envelope), let payload = record.payload.retained else {
        return nil
      }
      return Array(payload.suffix(24))
    }
  }

  /// The files of a disk that contain one of the texts.
  static func files(_ disk: SimulatedDisk, with texts: [[UInt8]]) -> [String] {
    let starts = Dictionary(grouping: texts) { $0.prefix(4) }
    return disk.files.filter { file in
      let bytes = file.value
      return bytes.indices.dropLast(24).contains { index in
        starts[bytes[index..<index + 4]]?.contains { bytes[index..<index + $0.count].elementsEqual($0) } ?? false
      }
    }.map(\.key)
  }
}
