import ArgumentParser
import ChatPrimitives
import EventLog
import EventLogSimulation
import Foundation
import Synchronization

/// Copies a log and erases one user in the copy, to show that tree heads and proofs remain valid. It shares no code with
/// the erasure that the server does.
struct EraseCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "erase", abstract: "Copy a log, and erase the payloads of everything that one user did.")

  @Option(help: "The data directory to read.")
  var data: String

  @Option(help: "The data directory to write; it must not exist.")
  var output: String

  @Option(help: "The user.")
  var user: String

  @Option(
    help: "Keep the user's records whose positions are multiples of this, with their own salts; 0 keeps none.")
  var keepEvery: UInt64 = 0

  struct Report: Encodable {
    let records: Int
    let erased: Int
    let keptWithSalt: Int
  }

  private var author: UUIDBytes {
    get throws {
      guard let author = UUIDBytes(text: user) else { throw ValidationError("--user \(user) is not a UUID") }
      return author
    }
  }

  func validate() throws {
    _ = try author
    guard !FileManager.default.fileExists(atPath: output) else { throw ValidationError("\(output) exists") }
  }

  func run() throws {
    let author = try author
    let reader = try LogReader.open(directory: data)
    var records: [LogRecord] = []
    var position = LogPosition.first
    while position <= reader.head {
      let block = try reader.block(containing: position)
      records += block.records
      position = block.last.next
    }
    let erased = try ErasedCopy(of: records, author: author) { record in
      keepEvery > 0 && record.position.value % keepEvery == 0
    }.records
    guard erased != records else { throw ValidationError("the log has no record of the user \(user)") }
    let keys = [CheckpointKey.fileName, CheckpointKey.publicFileName]
    for name in keys where !FileManager.default.fileExists(atPath: "\(data)/\(name)") {
      throw ValidationError("\(data) has no \(name), without which no tree head of the copy is signed")
    }
    try FileManager.default.createDirectory(atPath: output, withIntermediateDirectories: true)
    for name in keys {
      try FileManager.default.copyItem(atPath: "\(data)/\(name)", toPath: "\(output)/\(name)")
    }
    try write(erased, identity: reader.identity)
    let counts = erased.reduce(into: (erased: 0, salted: 0)) { counts, record in
      switch record.payload {
      case .retained: break
      case .erased: counts.erased += 1
      case .retainedWithSalt: counts.salted += 1
      }
    }
    try printReport(Report(records: erased.count, erased: counts.erased, keptWithSalt: counts.salted))
  }

  /// Writes the records into a new log with the same identity, because tree heads name the identity. The first two
  /// random numbers become the identity.
  private func write(_ records: [LogRecord], identity: LogIdentity) throws {
    let words = Mutex([identity.bytes.low, identity.bytes.high])
    let log = try EmbeddedLog.open(
      directory: output,
      options: LogOptions(
        preparesAhead: false, sealsInBackground: false,
        random: { words.withLock { $0.popLast() } ?? UInt64.random(in: .min ... .max) }))
    var builder = BlockBuilder(first: .first)
    for record in records {
      if builder.rawBytes >= BlockBuilder.targetRawBytes {
        try log.append(builder)
        builder = BlockBuilder(first: log.head.next)
      }
      try builder.append(record.envelope, payload: record.payload)
    }
    if !builder.isEmpty { try log.append(builder) }
    try log.close()
  }
}
