import ArgumentParser
import EventLog

/// `hansard log checkpoint`: prints a signed tree head of the current log.
struct LogCheckpointCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "checkpoint",
    abstract: "Prints a signed tree head of the current log.",
    discussion: """
      Keep it where nobody who can write to the data directory can change it: hansard log verify --checkpoint then \
      reveals every later change to what the log contained. The key that verifies it is checkpoint.pub in the data \
      directory.
      """)

  @OptionGroup var data: DataOption

  func run() async throws {
    try await ToolError.report {
      let proofs = try LogProofs(data)
      let output = ByteOutput()
      try output.write(proofs.tree.checkpoint(by: proofs.key).encoded())
      try output.flush()
    }
  }
}

/// The reader, tree and key with which tree heads and proofs of a log are created.
struct LogProofs {
  let reader: LogReader
  let tree: LogTree
  let key: CheckpointKey

  init(_ data: DataOption) throws {
    reader = try data.openLog()
    guard
      let key = try CheckpointKey.load(directory: data.directory, identity: reader.identity, disk: PosixDisk())
    else {
      throw ToolError(
        "the log has no key to sign tree heads with",
        because: "\(CheckpointKey.fileName) is missing in \(data.directory)",
        next: "restore it from a backup; the server creates a key only for a log that never had one")
    }
    self.key = key
    let bar = ProgressBar("hashing", total: nil, unit: .items("events"))
    defer { bar.finish() }
    tree = try LogTree(reader) { done, total in bar.update(done, of: total) }
  }
}
