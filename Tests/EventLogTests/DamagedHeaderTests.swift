import ChatPrimitives
import EventLogSimulation
import Testing

@testable import EventLog

@Suite("Every bit of every header")
struct DamagedHeaderTests {
  /// A closed log with seven blocks in three segments.
  private static let disk: Result<SimulatedDisk, any Error> = Result {
    try Sample.log(blocks: [2, 1, 3, 2, 1, 2, 1], segmentBytes: 5120, payloadBytes: 160)
  }

  /// The first error of reading everything, and that of `verify`.
  private func failures(_ disk: SimulatedDisk) -> [LogError?] {
    func failure(_ body: () throws -> Void) -> LogError? {
      do {
        try body()
        return nil
      } catch {
        return error as? LogError
      }
    }
    return [
      failure { _ = try LogReader.open(directory: dataDirectory, disk: disk).allRecords() },
      failure { _ = try LogVerifier(directory: dataDirectory, disk: disk).run() },
    ]
  }

  /// A copy of the disk with one bit changed.
  private func flipped(_ disk: SimulatedDisk, _ path: String, byte: Int, bit: Int) throws -> SimulatedDisk {
    let copy = disk.afterKill()
    let old = try #require(disk.bytes(path))[byte]
    copy.damage(path, at: byte, with: [old ^ (1 << bit)])
    return copy
  }

  @Test("a flipped bit in a block header is refused with its place", arguments: 0..<8)
  func blockHeaders(bit: Int) throws {
    let disk = try Self.disk.get()
    let reader = try LogReader.open(directory: dataDirectory, disk: disk)
    var next = LogPosition.first
    while next <= reader.head {
      let block = try reader.block(containing: next)
      let place = LogError.Location(file: block.segment, offset: block.offset, position: block.first)
      for byte in 0..<LogFormat.blockHeaderBytes {
        let damaged = try flipped(disk, "\(logDirectory)/\(block.segment)", byte: Int(block.offset) + byte, bit: bit)
        for error in failures(damaged) {
          try #require(error?.code == .corrupt && error?.location == place, "byte \(byte) of the block at \(next)")
        }
      }
      next = block.last.next
    }
  }

  @Test("a flipped bit in a segment header is refused with its place", arguments: 0..<8)
  func segmentHeaders(bit: Int) throws {
    let disk = try Self.disk.get()
    for path in segmentPaths(disk) {
      let name = String(path.dropFirst(logDirectory.count + 1))
      // All bytes of the fields, and a sample of the reserved bytes.
      for byte in 0..<LogFormat.segmentHeaderBytes where byte < 128 || byte >= 2048 && byte < 2304 || byte % 61 == 0 {
        for error in failures(try flipped(disk, path, byte: byte, bit: bit)) {
          try #require(
            error?.code == .corrupt && error?.location?.file == name && error?.location?.offset == 0,
            "byte \(byte) of \(name)")
        }
      }
    }
  }

  @Test("a flipped bit in one copy of the superblock leaves the other, in both the log is refused", arguments: 0..<8)
  func superblock(bit: Int) throws {
    let disk = try Self.disk.get()
    let path = "\(logDirectory)/superblock"
    let head = try LogReader.open(directory: dataDirectory, disk: disk).head
    for byte in 0..<LogFormat.superblockBytes {
      for start in [0, LogFormat.superblockStride] {
        let damaged = try flipped(disk, path, byte: start + byte, bit: bit)
        let log = try EmbeddedLog.open(directory: dataDirectory, disk: damaged, options: Sample.options())
        try #require(log.head == head, "byte \(start + byte)")
      }
      let both = try flipped(
        flipped(disk, path, byte: byte, bit: bit), path, byte: LogFormat.superblockStride + byte, bit: bit)
      let error = logError {
        _ = try EmbeddedLog.open(directory: dataDirectory, disk: both, options: Sample.options())
      }
      try #require(error?.code == .corrupt && error?.location?.file == "superblock", "byte \(byte)")
    }
  }

  @Test("a block that was written elsewhere leaves a hole that is refused, and so is what it hit", arguments: [0, 3])
  func misdirected(call: Int) throws {
    var refused = 0
    for seed in UInt64(1)...30 {
      let disk = SimulatedDisk(seed: seed)
      let log = try EmbeddedLog.open(
        directory: dataDirectory, disk: disk, options: Sample.options(segmentBytes: 16 * 1024))
      for _ in 0..<6 { try log.append(Sample.block(after: log.head, records: 2, compressible: false)) }
      disk.plan(.misdirects, at: call + 1, of: .write)
      for _ in 0..<6 { try log.append(Sample.block(after: log.head, records: 2, compressible: false)) }
      #expect(disk.faults.misdirected == 1)
      let hole = logError { _ = try log.block(containing: LogPosition(UInt64(13 + 2 * call))) }
      #expect(hole?.code == .corrupt && hole?.location?.offset != nil)
      let files = disk.files
      let error = logError {
        let again = try EmbeddedLog.open(
          directory: dataDirectory, disk: SimulatedDisk(files), options: Sample.options())
        _ = try again.allRecords()
      }
      #expect(error?.code == .corrupt && error?.location != nil)
      refused += error == nil ? 0 : 1
    }
    #expect(refused == 30)
  }
}
