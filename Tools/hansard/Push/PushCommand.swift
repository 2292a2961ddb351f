import ArgumentParser

/// `hansard push`: what push did and would do. Sends nothing.
struct PushCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "push", abstract: "Explains push notifications, using only the log.",
    subcommands: [PushExplainCommand.self])
}
