import ArgumentParser
import ChatServer

/// Prints the API contract that the server's types declare. Tests compare it with `docs/openapi.yaml`.
struct ContractCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "contract", abstract: "Print every endpoint and the fields of its bodies, as JSON.",
    shouldDisplay: false)

  func run() async throws { print(try HansardServer.contract()) }
}

/// Prints every problem code. A test compares them with `docs/errors.md`.
struct ErrorsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "errors", abstract: "Print the code and HTTP status of every problem.", shouldDisplay: false)

  func run() async throws {
    for line in HansardServer.errorLines { print(line) }
  }
}

/// Prints every setting as a row of the table in `docs/settings.md`.
struct SettingsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "settings",
    abstract: "Print every setting of the server: key, environment variable, option, default, meaning.")

  func run() async throws {
    for setting in ServeSettings.all { print(setting.row) }
  }
}
