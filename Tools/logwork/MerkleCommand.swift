import ArgumentParser
import ChatPrimitives
import EventLog
import Foundation

/// Compares the cost of the Merkle tree over all records with the cost of appending them.
struct MerkleCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "merkle", abstract: "Compare the processor time of hashing with that of appending.",
    discussion: """
      Appends messages through the server's commit pipeline without sealing, then hashes the same records (salt, digest, \
      leaf, and the nodes above) from memory, as sealing does. What is compared is processor time for each event: of \
      hashing, of the writer's thread (deciding, encoding, compressing, writing, syncing, answering), and of the \
      process, which has the 64 senders too.
      """)

  @Option(help: "How many events each of 64 writers sends at once.")
  var outstanding = 16

  @Option(help: "How long to append, in seconds.")
  var seconds = 2.0

  @Option(help: "An empty data directory.")
  var data: String

  private static let writers = 64

  struct Report: Encodable {
    let events: UInt64
    let hashNanosecondsPerEvent: Double
    let writerThreadNanosecondsPerEvent: Double
    let processNanosecondsPerEvent: Double
    /// Hashing time divided by the time of the writer's thread.
    let shareOfWriterThread: Double
    /// Hashing time divided by the time of the process while it appends.
    let shareOfProcess: Double
    let root: String
  }

  func validate() throws {
    guard outstanding >= 1, seconds > 0 else { throw ValidationError("outstanding is at least 1, seconds more than 0") }
  }

  func run() throws {
    let log = try EmbeddedLog.open(directory: data, options: LogOptions(sealsInBackground: false))
    let load = AppendLoad(log, writers: Self.writers, outstanding: outstanding)
    let start = load.mark()
    try load.start(.loop)
    Thread.sleep(forTimeInterval: seconds)
    let end = load.mark()
    try load.stop()
    let appended = Double(end.head.distance(from: start.head))
    let writer = (end.writerSeconds - start.writerSeconds) / appended * 1e9
    let process = (end.processSeconds - start.processSeconds) / appended * 1e9
    let (tree, hashSeconds) = try Self.hash(LogReader.open(directory: data))
    let hash = hashSeconds / Double(tree.count) * 1e9
    try printReport(
      Report(
        events: tree.count, hashNanosecondsPerEvent: hash, writerThreadNanosecondsPerEvent: writer,
        processNanosecondsPerEvent: process, shareOfWriterThread: hash / writer, shareOfProcess: hash / process,
        root: tree.root.hex))
  }

  /// Hashes the whole log. The time does not include reading.
  private static func hash(_ reader: LogReader) throws -> (tree: MerkleFrontier, seconds: Double) {
    var keys = CommitmentKeys()
    var tree = MerkleFrontier()
    var seconds = 0.0
    var position = LogPosition.first
    while position <= reader.head {
      let block = try reader.block(containing: position)
      let start = ProcessorClock.currentThread.seconds
      for record in block.records { tree.append(try keys.leaf(of: record)) }
      seconds += ProcessorClock.currentThread.seconds - start
      position = block.last.next
    }
    return (tree, seconds)
  }
}
