import ArgumentParser
import ChatPrimitives
import EventLog
import Foundation

/// Measures what reading and checking add to decoding.
struct ScanCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "scan", abstract: "Compare a scan of the log with LZ4 decoding of the same blocks in memory.",
    discussion: """
      The scan reads every block from the page cache, checks header, location, padding and checksums, and decompresses \
      the body. The other decodes the same bodies from memory into one buffer and checks nothing. The two are measured \
      alternately. Rates are of bytes before compression. The whole log must fit into memory.
      """)

  @Option(help: "How often each is measured.")
  var rounds = 7

  @Option(help: "A data directory.")
  var data: String

  struct Report: Encodable {
    let blocks: Int
    let bodyBytes: Int
    let storedBytes: Int
    let scanGigabytesPerSecond: Double
    let decodeGigabytesPerSecond: Double
    let ratio: Double
  }

  func validate() throws {
    guard rounds >= 1 else { throw ValidationError("rounds is at least 1") }
  }

  func run() throws {
    let reader = try LogReader.open(directory: data)
    let bodies = try LoadedBodies(reader)
    var scanTimes: [Double] = []
    var decodeTimes: [Double] = []
    for _ in 0..<rounds {
      let start = monotonicNanoseconds()
      let scanned = try Self.scan(reader)
      let middle = monotonicNanoseconds()
      let decoded = try bodies.decodeAll()
      let end = monotonicNanoseconds()
      guard scanned == decoded else {
        throw ValidationError("the scan gave \(scanned) bytes, decoding \(decoded)")
      }
      scanTimes.append(Double(middle - start))
      decodeTimes.append(Double(end - middle))
    }
    // Bytes per nanosecond equal gigabytes per second.
    let scan = Double(bodies.rawBytes) / Sample(scanTimes).median
    let decode = Double(bodies.rawBytes) / Sample(decodeTimes).median
    try printReport(
      Report(
        blocks: bodies.count, bodyBytes: bodies.rawBytes, storedBytes: bodies.storedBytes,
        scanGigabytesPerSecond: scan, decodeGigabytesPerSecond: decode, ratio: scan / decode))
  }

  private static func scan(_ reader: LogReader) throws(LogError) -> Int {
    var bytes = 0
    var position = LogPosition.first
    while position <= reader.head {
      let found = try reader.scan(position)
      bytes += found.bytes
      position = found.last.next
    }
    return bytes
  }
}
