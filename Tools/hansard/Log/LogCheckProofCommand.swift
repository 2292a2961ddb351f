import ArgumentParser
import EventLog

/// `hansard log check-proof`: checks a proof without the log.
struct LogCheckProofCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check-proof",
    abstract: "Checks a proof of hansard log prove, without the log.",
    discussion: "The exit code is 1 if the proof is not valid. Shows the proven record, but never a secret.")

  @Argument(help: "The proof.")
  var proof: String

  @Option(help: ArgumentHelp("The key of the log: a checkpoint.pub, or its text.", valueName: "key"))
  var key: String

  @Option(help: ArgumentHelp("The older tree head, for a proof that the log has only grown.", valueName: "file"))
  var since: String?

  func run() async throws {
    try await ToolError.report {
      let key = try CheckpointFiles.key(key)
      let text = String(decoding: try RegularFile.read(proof, limit: InclusionProof.maximumBytes), as: UTF8.self)
      if text.hasPrefix("old "), since == nil {
        throw ToolError("\(proof) proves that a log has only grown", next: "name the older tree head with --since")
      }
      if text.hasPrefix("c2sp.org/tlog-proof"), since != nil {
        throw ToolError("\(proof) does not prove that a log has only grown", next: "omit --since")
      }
      let older = try since.map(CheckpointFiles.note)
      let limit = older == nil ? InclusionProof.maximumBytes : ConsistencyProof.maximumBytes
      let content = try RegularFile.read(proof, limit: limit)
      let lines: [String]
      do throws(CheckpointFlaw) {
        lines = try Self.check(content, since: older, by: key)
      } catch {
        throw ToolError("\(proof) is not valid", because: error.reason, exit: .found)
      }
      let output = ByteOutput()
      for line in lines { try output.line(line) }
      try output.flush()
    }
  }

  /// The lines that describe a valid proof.
  private static func check(
    _ content: [UInt8], since older: SignedNote?, by key: VerifierKey
  ) throws(CheckpointFlaw) -> [String] {
    if let older {
      let proof = try ConsistencyProof(parsing: content)
      let head = try proof.verify(since: older, by: key)
      return ["ok: the first \(proof.old) records of \(head.origin) are the first of its \(head.size)"]
    }
    let proof = try InclusionProof(parsing: content)
    let head = try proof.verify(by: key)
    return ["ok: the record is at position \(proof.position) of \(head.origin), one of \(head.size) records"]
      + FieldList.lines(RecordView(proof).fields)
  }
}
