import ArgumentParser
import ChatPrimitives
import EventLog
import EventStore
import Foundation

/// Measures how many events per second become durable.
struct AppendCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "append", abstract: "Measure durable appends through the server's commit pipeline.",
    discussion: """
      Each event is a message whose record has 300 bytes before compression, envelope and record header included. A \
      writer sends its events at once and sends the next when all of them are durable.
      """)

  @Option(help: "How many writers send events.")
  var writers = 64

  @Option(help: "How many events each writer sends at once.")
  var outstanding = 1

  @Option(help: "How long to measure, in seconds.")
  var seconds = 3.0

  @Option(help: "What a writer is: a task on one loop, a task on the pool, or a thread (loop, pool, threads).")
  var drive = "loop"

  @Flag(help: "Seal full segments meanwhile, as a server does.")
  var sealing = false

  @Option(help: "A data directory; its log is created if it does not exist.")
  var data: String

  /// The warm-up that is not measured, in seconds.
  private static let warmUp = 0.3

  struct Report: Encodable {
    let events: UInt64
    let eventsPerSecond: Double
    let syncsPerSecond: Double
    let eventsPerSync: Double
    let recordBytes: Int
    let seconds: Double
    /// Processor time of the whole process, in seconds.
    let processSeconds: Double
    /// Processor time of the one thread that decides, writes and replies, in seconds.
    let writerThreadSeconds: Double
  }

  func validate() throws {
    guard writers >= 1, outstanding >= 1, seconds > 0, AppendLoad.Kind(rawValue: drive) != nil else {
      throw ValidationError(
        "writers and outstanding are at least 1, seconds more than 0, drive is loop, pool or threads")
    }
    guard writers * outstanding <= CommitPipeline<SampleMachine>.queueLimit else {
      throw ValidationError("at most \(CommitPipeline<SampleMachine>.queueLimit) events can wait at once")
    }
  }

  func run() throws {
    let log = try EmbeddedLog.open(directory: data, options: LogOptions(sealsInBackground: sealing))
    let load = AppendLoad(log, writers: writers, outstanding: outstanding)
    try load.start(AppendLoad.Kind(rawValue: drive) ?? .loop)
    Thread.sleep(forTimeInterval: Self.warmUp)
    let start = load.mark()
    Thread.sleep(forTimeInterval: seconds)
    let end = load.mark()
    try load.stop()
    let count = end.head.distance(from: start.head)
    let syncs = max(1, end.syncs - start.syncs)
    let wall = Double(end.nanoseconds - start.nanoseconds) / 1e9
    try printReport(
      Report(
        events: count, eventsPerSecond: Double(count) / wall, syncsPerSecond: Double(syncs) / wall,
        eventsPerSync: Double(count) / Double(syncs), recordBytes: SampleMessages.recordBytes, seconds: wall,
        processSeconds: end.processSeconds - start.processSeconds,
        writerThreadSeconds: end.writerSeconds - start.writerSeconds))
  }
}
