import ArgumentParser
import EventLog

/// `hansard log checkpoint`: the signed tree head of the log as it stands.
struct LogCheckpointCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "checkpoint",
    abstract: "Prints the signed tree head of the log as it stands.",
    discussion: """
      Keep it where whoever can write to the data directory cannot: hansard log verify --checkpoint then shows every \
      later change to what the log held. The key that verifies it is checkpoint.pub in the data directory.
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

/// What tree heads and proofs of a log are made with.
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
        next: "restore it from a backup; a server makes one when it opens a log that never had any")
    }
    self.key = key
    let bar = ProgressBar("hashing", total: nil, unit: .things("events"))
    defer { bar.finish() }
    tree = try LogTree(reader) { done, total in bar.update(done, of: total) }
  }
}
