import ArgumentParser

/// `hansard push`: explains what push did and would do. It sends nothing.
struct PushCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "push", abstract: "Explains push notifications, using only the log.",
    subcommands: [PushExplainCommand.self])
}
