import ArgumentParser

/// The tool for developers of the log itself. It only lists the commands.
@main
struct LogWork: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "logwork", abstract: "Simulates, fills, measures and breaks event logs.",
    subcommands: [
      SimulateCommand.self, FillCommand.self, OpenCommand.self, LookupCommand.self, EraseCommand.self,
      AppendCommand.self, LatencyCommand.self, ScanCommand.self, DecodeCommand.self, MerkleCommand.self,
    ])
}
