import ArgumentParser
import Configuration
import Foundation
import NIOCore
import NIOPosix

/// `hansard serve`: opens the data directory and answers requests until it is told to stop.
struct ServeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve", abstract: "Serve the API.",
    discussion: "Stops on SIGTERM and SIGINT: what is under way is answered first.")

  @Option(help: ArgumentHelp("The settings, a JSON file; `hansard settings` lists them.", valueName: "file"))
  var config: String?

  @Option(help: "The data directory.")
  var data: String?

  @Option(help: "Where to listen, HOST:PORT. Port 0 takes a free one.")
  var listen: String?

  @Option(help: "How long an access token is good for, in seconds.")
  var accessTokenLifetime: Int?

  @Option(help: "What an invite is shared as, with {token} where its token goes.")
  var deepLink: String?

  @OptionGroup(title: "Push options") var push: PushOptions

  @Flag(help: ArgumentHelp("Serve the endpoint that sending is measured against.", visibility: .hidden))
  var bench = false

  func run() async throws {
    Allocator.limitFreeMemory()
    runTasksOnEventLoops()
    try await ToolError.report {
      // Looked at before anything is opened: a wrong setting changes nothing.
      let settings = try ServeSettings.read(
        .commandLine(options), environment: ProcessInfo.processInfo.environment, file: config)
      try await ServeRun(settings: settings, servesBench: bench).serve()
    }
  }

  /// What the command line says, by the key of the setting.
  private var options: [String: ConfigContent] {
    let own: [String: ConfigContent?] = [
      "data": data.map { .string($0) }, "listen": listen.map { .string($0) },
      "accessTokenLifetime": accessTokenLifetime.map { .int($0) }, "deepLink": deepLink.map { .string($0) },
    ]
    return own.merging(push.values) { first, _ in first }.compactMapValues { $0 }
  }

  /// Requests are then served on the threads that read and write their sockets, which spares each several hops between
  /// threads (docs/performance.md has the figures). NIO calls it unsafe because it must come before the first task that
  /// needs the default executor, and because the hook may go; where it is gone, this does nothing.
  private func runTasksOnEventLoops() {
    _ = NIOSingletons.unsafeTryInstallSingletonPosixEventLoopGroupAsConcurrencyGlobalExecutor()
  }
}
