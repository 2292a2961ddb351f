import ArgumentParser
import ChatDomain
import ChatPrimitives
import EventLog
import EventLogSimulation
import EventStore
import Foundation

/// Measures what the log adds to a bare write and sync.
struct LatencyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "latency", abstract: "Compare one event at a time with a bare pwrite and fdatasync.",
    discussion: """
      One writer appends blocks of one record of 300 bytes. Next to the log is a file whose blocks are already \
      written, as the log's are. After each append the same number of bytes goes to that file. The two are measured \
      alternately, and which comes first changes each time.
      """)

  @Option(help: "How many of each.")
  var count = 3_000

  @Option(help: "A data directory; its log is created if it does not exist.")
  var data: String

  struct Report: Encodable {
    let count: Int
    let bytesPerWrite: Double
    let logMedianMicroseconds: Double
    let logP99Microseconds: Double
    let rawMedianMicroseconds: Double
    let rawP99Microseconds: Double
    let ratio: Double
  }

  func validate() throws {
    guard count >= 1 else { throw ValidationError("count is at least 1") }
  }

  func run() throws {
    let log = try EmbeddedLog.open(directory: data, options: LogOptions(sealsInBackground: false))
    let raw = try PreparedFile(path: data + "/raw", bytes: LogOptions.defaultSegmentBytes)
    let author = SampleAuthor(number: 0)
    let messages = SampleMessages()
    var random = SeededRandom(seed: 1)
    var logTimes: [Double] = []
    var rawTimes: [Double] = []
    var bytes = 0
    for number in 0..<count {
      let message = UUIDBytes(high: random.next(), low: random.next())
      let event = author.sent(
        message, messages[message.low], version: UInt64(number) + 1,
        at: Stamp(position: log.head.next, time: max(LogOptions.systemTime(), log.lastTime)))
      let (envelope, payload) = try EventCodec.encode(event)
      // In the first pass, no block exists yet whose length the raw file could copy.
      if number % 2 == 1 { rawTimes.append(try Self.time { try raw.append(bytes) }) }
      logTimes.append(
        try Self.time {
          var block = BlockBuilder(first: log.head.next)
          try block.append(envelope, payload: payload)
          try log.append(block)
        })
      bytes = try log.block(containing: log.head).storedBytes
      if number % 2 == 0 { rawTimes.append(try Self.time { try raw.append(bytes) }) }
    }
    try log.close()
    try raw.remove()
    let ours = Sample(logTimes)
    let theirs = Sample(rawTimes)
    try printReport(
      Report(
        count: count, bytesPerWrite: Double(raw.written) / Double(count), logMedianMicroseconds: ours.median,
        logP99Microseconds: ours.p99, rawMedianMicroseconds: theirs.median, rawP99Microseconds: theirs.p99,
        ratio: ours.median / theirs.median))
  }

  /// Runs the body and returns its duration in microseconds.
  private static func time(_ body: () throws -> Void) rethrows -> Double {
    let start = monotonicNanoseconds()
    try body()
    return Double(monotonicNanoseconds() - start) / 1_000
  }
}

/// A file that is filled with zeros first and then overwritten from its beginning.
final class PreparedFile {
  private let file: any DiskFile
  private let disk = PosixDisk()
  private let path: String
  private let content: [UInt8]
  private(set) var written = 0

  init(path: String, bytes: Int) throws {
    self.path = path
    let file = try disk.open(path, .readWriteOrCreate)
    let zeros = [UInt8](repeating: 0, count: 1024 * 1024)
    for offset in stride(from: 0, to: bytes, by: zeros.count) {
      _ = try zeros.withUnsafeBytes { try file.write($0, at: UInt64(offset)) }
    }
    try file.sync()
    var random = SeededRandom(seed: 2)
    content = (0..<4096).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    self.file = file
  }

  /// Writes this many bytes, at most 4,096, with one call, then syncs.
  func append(_ count: Int) throws {
    _ = try content.withUnsafeBytes {
      try file.write(UnsafeRawBufferPointer(rebasing: $0[..<count]), at: UInt64(written))
    }
    try file.sync()
    written += count
  }

  func remove() throws {
    try disk.remove(path)
  }
}
