import ArgumentParser
import ChatPrimitives
import EventLog
import EventStore

/// `hansard log prove`: proves that a record is in the log, or that the log has only grown.
struct LogProveCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "prove",
    abstract: "Proves that a record is in the log, or that the log has only grown since a tree head.",
    discussion: """
      The proof contains a tree head of the current log. It can be checked without the log, by hansard log check-proof \
      or any program that supports C2SP's tlog-proof. It contains the record's payload, unless that was erased or can \
      contain a secret (registrations, devices, push tokens and invites).
      """)

  @OptionGroup var data: DataOption

  @Option(help: ArgumentHelp("Prove that the record is at this position.", valueName: "position"))
  var position: UInt64?

  @Option(help: ArgumentHelp("Prove that the log at this tree head is a prefix of the current log.", valueName: "file"))
  var since: String?

  func validate() throws {
    guard (position == nil) != (since == nil) else { throw ValidationError("Pass either --position or --since.") }
  }

  func run() async throws {
    try await ToolError.report {
      let proof: [UInt8]
      if let position {
        let proofs = try LogProofs(data)
        proof = try proofs.tree.inclusion(of: LogPosition(position), by: proofs.key, showsPayload: Self.showsPayload)
          .encoded()
      } else if let since {
        proof = try consistency(since)
      } else {
        return
      }
      let output = ByteOutput()
      try output.write(proof)
      try output.flush()
    }
  }

  /// Whether a proof may contain the record's payload.
  private static func showsPayload(_ envelope: RecordEnvelope) -> Bool {
    EventKind(number: envelope.kind)?.disclosure == .disclosed
  }

  private func consistency(_ path: String) throws -> [UInt8] {
    let note = try CheckpointFiles.note(path)
    let proofs = try LogProofs(data)
    let old: Checkpoint
    do {
      old = try Checkpoint(verifying: note, by: proofs.key.verifier)
    } catch {
      throw ToolError("\(path) is not a tree head of this log", because: error.reason, exit: .found)
    }
    guard old.size <= proofs.tree.frontier.count else {
      throw ToolError(
        "the log has \(proofs.tree.frontier.count) records, fewer than the \(old.size) of \(path)",
        because: "it was rolled back, or another copy of it", next: "run hansard log verify --checkpoint \(path)",
        exit: .found)
    }
    guard try proofs.tree.root(size: old.size) == old.root else {
      throw ToolError(
        "the first \(old.size) records are not those of \(path)", because: "the log was changed",
        next: "run hansard log verify --checkpoint \(path)", exit: .found)
    }
    return try proofs.tree.consistency(since: old.size, by: proofs.key).encoded()
  }
}
