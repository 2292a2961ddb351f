import ArgumentParser
import ChatDomain
import ChatPrimitives
import EventLog
import EventStore
import Foundation

/// `hansard erase`: does for a stopped server what a running one does in the background.
struct EraseCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "erase",
    abstract: "Removes what deleted users wrote from the log of a stopped server.",
    discussion: """
      A running server does this by itself, slowly, so that it disturbs nobody. Use this if the server is stopped, or must \
      not be started before the log is clean. It needs exclusive use of the data directory. An interrupted run continues \
      where it stopped. The read models are deleted, because they were built from what is erased; the server builds them \
      again when it starts, and records that the erasures are complete. Files that nobody uses any more are deleted by its \
      daily collection.
      """)

  @OptionGroup var data: DataOption

  @Flag(help: "Print one JSON object.")
  var json = false

  func run() async throws {
    try await ToolError.report {
      let log = try EmbeddedLog.ofStoppedServer(data)
      let pending = try pending(in: log)
      let report = pending.users.isEmpty ? nil : try erase(pending.users, in: log)
      if !pending.users.isEmpty { try removeReadModels() }
      try log.close()
      try print(report, held: pending.held.sorted())
    }
  }

  private func pending(in log: EmbeddedLog) throws -> PendingErasures {
    let bar = ProgressBar("looking for deleted users", total: log.head.value, unit: .items("events"))
    defer { bar.finish() }
    return try PendingErasures(in: log) { bar.update($0.value) }
  }

  private func erase(_ users: [UserID: LogPosition], in log: EmbeddedLog) throws -> ErasureReport? {
    _ = try log.sealAll()
    let bar = ProgressBar("erasing", total: nil, unit: .items("segments"))
    defer { bar.finish() }
    return try log.erase(ErasurePlan(erasing: users, in: log), progress: { bar.update($0, of: $1) })
  }

  /// The server finds what to remove from them in the log, where it is erased now.
  private func removeReadModels() throws {
    let path = data.directory + "/views"
    if FileManager.default.fileExists(atPath: path) { try FileManager.default.removeItem(atPath: path) }
  }

  private func print(_ report: ErasureReport?, held: [UserID]) throws {
    let users = (report?.users ?? [:]).sorted { $0.key.text < $1.key.text }
    let output = ByteOutput()
    if json {
      try output.line(
        .object([
          (
            "erased",
            .list(
              users.map { user, counts in
                .object([
                  ("user", .text(user.text)), ("erasedRecords", .number(counts.erased)),
                  ("keptRecords", .number(counts.kept)),
                ])
              })
          ), ("held", .list(held.map { .text($0.description) })),
          ("segmentsRewritten", .number(UInt64(report?.rewritten ?? 0))),
        ]))
    } else {
      for (user, counts) in users {
        try output.line(
          "erased \(user.text): \(Quantity.count(counts.erased)) records without content, "
            + "\(Quantity.count(counts.kept)) kept for others")
      }
      for user in held { try output.line("held \(user): a legal hold makes the erasure wait") }
      try output.line(
        users.isEmpty
          ? "nothing to erase"
          : "rewrote \(Quantity.count(report?.rewritten ?? 0)) segments; start the server to complete the erasures")
    }
    try output.flush()
  }
}
