import ArgumentParser

/// `hansard push`: explains from the log who was notified of an event. It sends nothing.
struct PushCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "push", abstract: "Explains push notifications from the log.",
    subcommands: [PushExplainCommand.self])
}
