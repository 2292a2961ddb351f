import ArgumentParser

/// The tool for those who work on the log itself. It wires and nothing else.
@main
struct LogWork: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "logwork", abstract: "Simulates, fills, measures and breaks event logs.",
    subcommands: [
      SimulateCommand.self, FillCommand.self, OpenCommand.self, LookupCommand.self, EraseCommand.self,
      AppendCommand.self, LatencyCommand.self, ScanCommand.self, MerkleCommand.self,
    ])
}
