import ArgumentParser

/// The `hansard` executable. It only lists the commands.
@main
struct Hansard: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "hansard",
    abstract: "An event-sourced chat backend: every action is an event in one append-only log.",
    version: Version.text,
    subcommands: [
      ServeCommand.self, ImportCommand.self, ReplayCommand.self, AuditCommand.self, LogCommand.self,
      BackupCommand.self, RestoreCommand.self, EraseCommand.self, DoctorCommand.self, UsersCommand.self,
      RoomsCommand.self, SessionsCommand.self, DevicesCommand.self, PushCommand.self, SettingsCommand.self,
      ContractCommand.self,
      ErrorsCommand.self,
    ])
}
