import ArgumentParser
import ChatPrimitives
import EventLog
import Foundation

/// Finds the records of one stream, and counts how many blocks were decoded for that.
struct LookupCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "lookup", abstract: "Find one stream's records, and count the blocks that were decoded for it.",
    discussion: """
      The exit code is 1 if a block without records of the stream was decoded, or if a scan of the whole log finds \
      other records; standard error shows what was found and what was expected.
      """)

  @Option(help: "The data directory.")
  var data: String

  @Option(help: "The stream's UUID.")
  var stream: String

  struct Report: Encodable {
    let events: Int
    let blocksDecoded: Int
    let blocksHolding: Int
    /// The number of blocks in the whole log.
    let blocks: Int
    let head: UInt64
    /// The duration of the lookup, including opening the log.
    let milliseconds: Double
  }

  private var streamID: UUIDBytes {
    get throws {
      guard let id = UUIDBytes(text: stream) else { throw ValidationError("--stream \(stream) is not a UUID") }
      return id
    }
  }

  func validate() throws {
    _ = try streamID
  }

  func run() throws {
    let stream = try streamID
    let started = ContinuousClock.now
    let reader = try LogReader.open(directory: data)
    var found: [LogPosition] = []
    var streamBlocks = StreamBlocks(reader, stream: stream, from: .first, through: reader.head)
    while let block = try streamBlocks.next() { found += Self.positions(of: stream, in: block) }
    let milliseconds = (ContinuousClock.now - started) / .milliseconds(1)
    let decoded = reader.blocksRead
    var expected: [LogPosition] = []
    var holding = 0
    var blocks = 0
    var position = LogPosition.first
    while position <= reader.head {
      let block = try reader.block(containing: position)
      let positions = Self.positions(of: stream, in: block)
      expected += positions
      holding += positions.isEmpty ? 0 : 1
      blocks += 1
      position = block.last.next
    }
    try printReport(
      Report(
        events: found.count, blocksDecoded: decoded, blocksHolding: holding, blocks: blocks, head: reader.head.value,
        milliseconds: milliseconds))
    let mismatches = Self.mismatches(found, expected) + Self.mismatches(decoded, holding)
    for mismatch in mismatches { FileHandle.standardError.write(Data("FAILED: \(mismatch)\n".utf8)) }
    guard mismatches.isEmpty else { throw ExitCode.failure }
  }

  private static func mismatches(_ found: [LogPosition], _ expected: [LogPosition]) -> [String] {
    guard found != expected else { return [] }
    let same = zip(found, expected).prefix { $0 == $1 }.count
    let next = [found, expected].map { $0.count > same ? "position \($0[same])" : "no more" }
    return [
      "found \(found.count) records, expected \(expected.count); "
        + "after the first \(same) found \(next[0]), expected \(next[1])"
    ]
  }

  private static func mismatches(_ decoded: Int, _ holding: Int) -> [String] {
    guard decoded != holding else { return [] }
    return ["decoded \(decoded) blocks, expected \(holding): those that contain records of the stream"]
  }

  private static func positions(of stream: UUIDBytes, in block: Block) -> [LogPosition] {
    block.records.filter { $0.envelope.stream == stream }.map(\.position)
  }
}
