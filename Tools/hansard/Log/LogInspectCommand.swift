import ArgumentParser
import ChatPrimitives
import EventLog

/// `hansard log inspect`: prints one record or one block.
struct LogInspectCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "inspect",
    abstract: "Prints a record, or the block that contains it.",
    discussion: "Without --position or --block: the last block. Secrets are never shown.")

  @OptionGroup var data: DataOption

  @Option(help: ArgumentHelp("Print the record at this position.", valueName: "position"))
  var position: UInt64?

  @Option(help: ArgumentHelp("Print the block that contains this position.", valueName: "position"))
  var block: UInt64?

  @Flag(help: "Print one JSON object.")
  var json = false

  func validate() throws {
    if position != nil, block != nil { throw ValidationError("Pass --position or --block, not both.") }
  }

  func run() async throws {
    try await ToolError.report {
      let log = try data.openLog()
      guard log.head > .origin else {
        throw ToolError("the log is empty", next: "run this again after the first event was recorded")
      }
      let target = LogPosition(position ?? block ?? log.head.value)
      let found = try log.block(containing: target)
      guard position != nil else { return try print(BlockView(found).fields) }
      guard let record = found.records.first(where: { $0.position == target }) else {
        throw ToolError(
          "the block that should contain position \(target) does not contain it", next: "run hansard log verify")
      }
      try print(RecordView(record, in: found).fields)
    }
  }

  private func print(_ fields: [(String, JSONValue)]) throws {
    let output = ByteOutput()
    if json {
      try output.line(.object(fields))
    } else {
      for line in FieldList.lines(fields) { try output.line(line) }
    }
    try output.flush()
  }
}
