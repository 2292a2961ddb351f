import ArgumentParser

/// `hansard log`: what stands in the log, and whether it holds.
struct LogCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "log",
    abstract: "Shows and checks the log itself, beside a running server too.",
    subcommands: [LogStatCommand.self, LogVerifyCommand.self, LogInspectCommand.self])
}
