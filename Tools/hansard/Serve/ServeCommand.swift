import ArgumentParser
import NIOCore
import NIOPosix

/// `hansard serve`: opens the data directory and serves requests until it is stopped.
struct ServeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve", abstract: "Serve the API.",
    discussion: "Stops on SIGTERM and SIGINT; requests in flight are completed first.")

  @OptionGroup var options: ServeOptions

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
      let settings = try ServeSettings.read(try options.sources())
      if conformance { try ConformanceDirectory.prepare(settings.data) }
      try await ServeRun(settings: settings, servesBench: bench, servesConformance: conformance).serve()
    }
  }

  /// Runs tasks on the threads that read and write the sockets, which saves each request several switches between
  /// threads (see docs/performance.md for the figures). NIO calls this unsafe because it must run before the first task
  /// that needs the default executor, and because the hook may be removed from Swift. Without the hook, this does
  /// nothing.
  private func runTasksOnEventLoops() {
    _ = NIOSingletons.unsafeTryInstallSingletonPosixEventLoopGroupAsConcurrencyGlobalExecutor()
  }
}
