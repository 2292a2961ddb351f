import ArgumentParser

/// `hansard log`: shows what is in the log and whether it is intact.
struct LogCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "log",
    abstract: "Shows, checks, seals and proves the log itself.",
    subcommands: [
      LogStatCommand.self, LogVerifyCommand.self, LogInspectCommand.self, LogSealCommand.self,
      LogCheckpointCommand.self, LogProveCommand.self, LogCheckProofCommand.self,
    ])
}
