import ArgumentParser

/// The tool for those who work on the log itself. It wires and nothing else.
@main
struct LogWork: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "logwork", abstract: "Simulates, fills, measures and breaks event logs.",
    subcommands: [SimulateCommand.self, EraseCommand.self, LookupCommand.self])
}
