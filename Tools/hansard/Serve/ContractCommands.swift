import ArgumentParser
import ChatServer

/// Prints every route, for the test that compares them with `docs/openapi.yaml`.
struct RoutesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "routes", abstract: "Print the method, path and access of every route.", shouldDisplay: false)

  func run() async throws {
    for line in HansardServer.routeLines { print(line) }
  }
}

/// Prints every problem code, for the test that compares them with `docs/errors.md`.
struct ErrorsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "errors", abstract: "Print the code and HTTP status of every problem.", shouldDisplay: false)

  func run() async throws {
    for line in HansardServer.errorLines { print(line) }
  }
}

/// Prints every setting as a table row, as `docs/settings.md` has them.
struct SettingsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "settings", abstract: "Print every setting of the server: key, variable, option, default, meaning.")

  func run() async throws {
    for setting in ServeSettings.all { print(setting.row) }
  }
}
