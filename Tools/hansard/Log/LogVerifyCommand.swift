import ArgumentParser
import ChatPrimitives
import EventLog
import EventStore

/// `hansard log verify`: checks that every byte of the log is as it was written.
struct LogVerifyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Checks every header, every block, every record and every tree head.",
    discussion: "If there is damage, prints file, offset and position of the first one, and the exit code is 1.")

  @OptionGroup var data: DataOption

  @Option(
    name: .customLong("checkpoint"),
    help: ArgumentHelp("A tree head that was kept elsewhere; can be given several times.", valueName: "file"))
  var checkpoints: [String] = []

  @Option(
    help: ArgumentHelp(
      "The key that verifies tree heads: a checkpoint.pub, or its text. Default: the one in the data directory.",
      valueName: "key"))
  var key: String?

  @Flag(help: "Print one JSON object.")
  var json = false

  func run() async throws {
    try await ToolError.report {
      do {
        try verify()
      } catch let error as LogError where Self.isDamage(error.code) {
        if json { try printFlaw(error.code.rawValue, because: error.cause, at: error.location) }
        throw ToolError(error, exit: .found)
      } catch let refused as RefusedHead {
        if json { try printFlaw(RefusedHead.code, because: refused.error.reason, at: .init(file: refused.file)) }
        throw refused.error
      }
    }
  }

  private func verify() throws {
    let key = try key.map(CheckpointFiles.key)
    let given = try heads(signedBy: key)
    let bar = ProgressBar("verifying", total: nil, unit: .bytes)
    defer { bar.finish() }
    let report = try LogVerifier(directory: data.directory, checkpoints: given, key: key)
      .run { done, total in bar.update(done, of: total) }
    bar.finish()
    try print(report, seconds: bar.seconds)
  }

  /// A named tree head that cannot be trusted.
  private struct RefusedHead: Error {
    static let code = "checkpoint_refused"

    let file: String
    let error: ToolError
  }

  /// The named tree heads, with their signatures verified.
  /// - Throws: `RefusedHead` for a file that is not a tree head or is not signed by the key.
  private func heads(signedBy key: VerifierKey?) throws -> [KeptHead] {
    if checkpoints.isEmpty { return [] }
    let own = try CheckpointKey.loadVerifier(
      directory: data.directory, identity: data.openLog().identity, disk: PosixDisk())
    guard let verifier = key ?? own else {
      throw ToolError(
        "there is no key to verify the tree heads with",
        because: "there is no \(CheckpointKey.publicFileName) in \(data.directory)",
        next: "name the key with --key")
    }
    return try checkpoints.map { path in
      do {
        return try Self.head(path, signedBy: verifier)
      } catch let error as ToolError where error.exit == .found {
        throw RefusedHead(file: path, error: error)
      }
    }
  }

  private static func head(_ path: String, signedBy key: VerifierKey) throws -> KeptHead {
    let note = try CheckpointFiles.note(path)
    do {
      return KeptHead(try Checkpoint(verifying: note, by: key), name: path)
    } catch {
      throw ToolError("\(path) is not a valid tree head", because: error.reason, exit: .found)
    }
  }

  /// Whether the error is about the content of the log, not about access to it.
  private static func isDamage(_ code: LogError.Code) -> Bool {
    switch code {
    case .corrupt, .wrongVersion: true
    case .poisoned, .locked, .fullDisk, .io, .outOfRange, .tooLarge, .missing, .detached, .invalidRecord, .outOfOrder,
      .closed, .busy:
      false
    }
  }

  private func print(_ report: LogVerifier.Report, seconds: Double) throws {
    let output = ByteOutput()
    if json {
      try output.line(
        .object([
          ("ok", .bool(true)),
          ("events", .number(report.records)),
          ("blocks", .count(report.blocks)),
          ("segments", .count(report.segments)),
          ("sealedSegments", .count(report.sealedSegments)),
          ("erased", .number(report.erased)),
          ("treeHeads", .count(report.treeHeads)),
          ("root", .text(report.root.base64)),
          ("bytes", .number(report.bytes)),
          ("bytesBehindHead", .number(report.bytesBehindHead)),
          ("damagedSuperblockCopies", .count(report.damagedSuperblockCopies)),
          ("head", .number(report.head.value)),
          ("identity", .text(report.identity.description)),
        ]))
    } else {
      try output.line(
        "ok: \(Quantity.count(report.records)) events in \(Quantity.count(report.blocks)) blocks of "
          + "\(Quantity.count(report.segments)) segments (\(Quantity.count(report.sealedSegments)) sealed), "
          + "\(Quantity.bytes(report.bytes)), head \(report.head), in \(Quantity.seconds(seconds))")
      try output.line("tree head: \(report.head) records, root \(report.root.base64)")
      try output.line("agrees with \(Quantity.count(report.treeHeads)) signed tree heads")
      if report.damagedSuperblockCopies > 0 {
        try output.line("one of the two copies of the superblock is damaged; the other one is used")
      }
      if report.bytesBehindHead > 0 {
        try output.line(
          "\(Quantity.bytes(report.bytesBehindHead)) follow the last durable event: a write in progress, or an "
            + "unfinished write of a crash, which the next start recovers")
      }
    }
    try output.flush()
  }

  private func printFlaw(_ code: String, because cause: String?, at location: LogError.Location?) throws {
    let output = ByteOutput()
    try output.line(
      .object([
        ("ok", .bool(false)),
        ("code", .text(code)),
        ("cause", .text(orNull: cause)),
        ("file", .text(orNull: location?.file)),
        ("offset", location?.offset.map(JSONValue.number) ?? .null),
        ("position", location?.position.map { .number($0.value) } ?? .null),
      ]))
    try output.flush()
  }
}
