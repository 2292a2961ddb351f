import ArgumentParser
import ChatDomain
import ChatPrimitives
import EventLog
import EventLogSimulation
import EventStore
import Foundation

/// Creates a log of any size quickly.
struct FillCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fill", abstract: "Append generated messages in large blocks.",
    discussion: "Each record has 300 bytes before compression. Messages go to the rooms in turn.")

  @Option(help: "How many messages.")
  var records: UInt64

  @Option(help: "How many rooms, each with its own author.")
  var streams = 1_000

  @Option(help: "Length of a segment, in bytes.")
  var segmentBytes = LogOptions.defaultSegmentBytes

  @Flag(help: "Seal every segment afterwards, the last too.")
  var seal = false

  @Option(help: "A data directory; its log is created if it does not exist.")
  var data: String

  struct Report: Encodable {
    let head: UInt64
    let blocks: Int
    let rawBytes: Int
    let segmentsSealed: Int
    /// Time spent on appending, in seconds.
    let appendSeconds: Double
    /// Time spent on sealing, in seconds.
    let sealSeconds: Double
  }

  func validate() throws {
    guard records >= 1, streams >= 1 else { throw ValidationError("records and streams are at least 1") }
  }

  func run() throws {
    let log = try EmbeddedLog.open(
      directory: data, options: LogOptions(segmentBytes: segmentBytes, sealsInBackground: false))
    var filling = LogFilling(log, authors: (0..<streams).map(SampleAuthor.init))
    let start = ContinuousClock.now
    if log.head == .origin { try filling.registerAuthors() }
    try filling.send(records)
    let appended = ContinuousClock.now
    var sealed = 0
    if seal {
      try log.roll()
      while try log.sealNext() { sealed += 1 }
    }
    let end = ContinuousClock.now
    let head = log.head
    try log.close()
    try printReport(
      Report(
        head: head.value, blocks: filling.blocks, rawBytes: filling.rawBytes, segmentsSealed: sealed,
        appendSeconds: (appended - start) / .seconds(1), sealSeconds: (end - appended) / .seconds(1)))
  }
}

/// Appends generated messages in blocks of the size at which a server starts a new block.
struct LogFilling {
  private(set) var blocks = 0
  private(set) var rawBytes = 0
  private let log: EmbeddedLog
  private let authors: [SampleAuthor]
  private let messages = SampleMessages()
  private var random: SeededRandom
  private var block: BlockBuilder
  private var versions: [UInt64]

  init(_ log: EmbeddedLog, authors: [SampleAuthor]) {
    self.log = log
    self.authors = authors
    random = SeededRandom(seed: log.head.value)
    block = BlockBuilder(first: log.head.next)
    versions = authors.map { _ in 0 }
  }

  mutating func registerAuthors() throws {
    for author in authors { try append(author.registered(at: stamp())) }
    try flush()
  }

  mutating func send(_ count: UInt64) throws {
    for number in 0..<count {
      let author = Int(number % UInt64(authors.count))
      versions[author] += 1
      let message = UUIDBytes(high: random.next(), low: random.next())
      try append(
        authors[author].sent(message, messages[message.low], version: versions[author], at: stamp()))
    }
    try flush()
  }

  private func stamp() -> Stamp {
    Stamp(position: block.next, time: max(LogOptions.systemTime(), log.lastTime))
  }

  private mutating func append(_ event: RecordedEvent) throws {
    let (envelope, payload) = try EventCodec.encode(event)
    try block.append(envelope, payload: payload)
    if block.rawBytes >= BlockBuilder.targetRawBytes { try flush() }
  }

  private mutating func flush() throws {
    guard !block.isEmpty else { return }
    try log.append(block)
    blocks += 1
    rawBytes += block.rawBytes
    block = BlockBuilder(first: log.head.next)
  }
}
