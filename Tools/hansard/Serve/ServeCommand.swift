import ArgumentParser
import Configuration
import Foundation
import NIOCore
import NIOPosix

/// `hansard serve`: opens the data directory and serves requests until it is stopped.
struct ServeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve", abstract: "Serve the API.",
    discussion: "Stops on SIGTERM and SIGINT; requests in flight are completed first.")

  @Option(help: ArgumentHelp("The settings file (JSON); `hansard settings` lists all settings.", valueName: "file"))
  var config: String?

  @Option(help: "The data directory.")
  var data: String?

  @Option(help: "The address to listen on, HOST:PORT. Port 0 selects a free port.")
  var listen: String?

  @Option(help: "The lifetime of an access token, in seconds.")
  var accessTokenLifetime: Int?

  @Option(help: "The form of invite links; {token} is replaced by the invite's token.")
  var deepLink: String?

  @OptionGroup(title: "Push options") var push: PushOptions

  @Flag(help: ArgumentHelp("Serve the endpoint with which benchmarks compare sending.", visibility: .hidden))
  var bench = false

  @Flag(
    help: ArgumentHelp(
      "Also serve the test endpoints of the socket protocols, to everyone.",
      discussion: "The data directory must be empty, or have been made by an earlier run with this flag."))
  var conformance = false

  func run() async throws {
    MallocSettings.limitFreeMemory()
    runTasksOnEventLoops()
    try await ToolError.report {
      // Read before anything is opened, so that a wrong setting changes nothing.
      let settings = try ServeSettings.read(
        .commandLine(options), environment: ProcessInfo.processInfo.environment, file: config)
      if conformance { try ConformanceDirectory.prepare(settings.data) }
      try await ServeRun(settings: settings, servesBench: bench, servesConformance: conformance).serve()
    }
  }

  /// The values from the command line, by setting key.
  private var options: [String: ConfigContent] {
    let own: [String: ConfigContent?] = [
      "data": data.map { .string($0) }, "listen": listen.map { .string($0) },
      "accessTokenLifetime": accessTokenLifetime.map { .int($0) }, "deepLink": deepLink.map { .string($0) },
    ]
    return own.merging(push.values) { first, _ in first }.compactMapValues { $0 }
  }

  /// Runs tasks on the threads that read and write the sockets, which saves each request several switches between
  /// threads (see docs/performance.md for the figures). NIO calls this unsafe because it must run before the first task
  /// that needs the default executor, and because the hook may be removed from Swift. Without the hook, this does
  /// nothing.
  private func runTasksOnEventLoops() {
    _ = NIOSingletons.unsafeTryInstallSingletonPosixEventLoopGroupAsConcurrencyGlobalExecutor()
  }
}
