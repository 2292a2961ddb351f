import ArgumentParser
import ChatPrimitives
import ChatPush
import ChatServer
import ChatService
import EventLog
import Foundation
import Hummingbird
import Logging
import NIOCore
import NIOPosix

/// `hansard serve`: opens the data directory and answers requests until it is told to stop.
struct ServeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve", abstract: "Serve the API.",
    discussion: "Stops on SIGTERM and SIGINT: what is under way is answered first.")

  @OptionGroup var data: DataOption

  @Option(help: "Where to listen, HOST:PORT (or HANSARD_LISTEN). Port 0 takes a free one.")
  var listen: ListenAddress?

  @Option(help: "How long an access token is good for, in seconds.")
  var accessTokenLifetime = TokenIssuer.defaultAccessTokenLifetimeSeconds

  @OptionGroup(title: "Push options") var push: PushOptions

  @Flag(help: ArgumentHelp("Serve the endpoint that sending is measured against.", visibility: .hidden))
  var bench = false

  /// A year, in seconds.
  private static let longestTokenLifetime = 31_536_000

  func validate() throws {
    guard (1...Self.longestTokenLifetime).contains(accessTokenLifetime) else {
      throw ValidationError("--access-token-lifetime must lie between 1 and \(Self.longestTokenLifetime) seconds.")
    }
  }

  func run() async throws {
    runTasksOnEventLoops()
    try await ToolError.report { try await serve() }
  }

  private func serve() async throws {
    // Looked at before anything is opened: a wrong option changes nothing.
    let sender = try push.sender()
    do {
      try await serve(sendingBy: sender)
    } catch {
      await sender?.close()
      throw error
    }
  }

  private func serve(sendingBy sender: (any NoticeSender)?) async throws {
    let logger = Self.logger()
    let address = try listenAddress()
    let log = try EmbeddedLog.open(
      directory: data.directory,
      options: LogOptions(onSealingFailure: { error in
        logger.warning(
          "a full segment was not sealed; it stays as it is, and is tried again with the next",
          metadata: ["error": "\(error)"])
      }))
    report(log.recovery, to: logger)
    let opened = try await open(log, logger)
    let pushing: PushService?
    do {
      pushing = try await startPush(by: sender, opened, logger)
    } catch {
      try? opened.close()
      throw error
    }
    do {
      try await answer(opened, at: address, logger)
    } catch {
      try? await close(opened, pushing)
      throw error
    }
    try await close(opened, pushing)
  }

  /// Answers requests until the process is told to stop.
  private func answer(_ opened: ServiceOpening.Opened, at address: ListenAddress, _ logger: Logger) async throws {
    let issuer = try await TokenIssuer(keys: opened.keys, accessTokenLifetimeSeconds: accessTokenLifetime)
    let administrator = AdministratorToken(opened.keys)
    try administrator.write(to: data.directory)
    let server = HansardServer(chat: opened.chat, issuer: issuer, administrator: administrator)
    let application = server.application(
      HansardServer.Configuration(host: address.host, port: address.port, servesBench: bench), logger: logger
    ) { port in announce(address, port) }
    try await HansardServer.run(application)
  }

  /// Outcomes are recorded before the log takes no more, and the outbox is closed when it has seen them.
  private func close(_ opened: ServiceOpening.Opened, _ pushing: PushService?) async throws {
    await pushing?.stopSending()
    try opened.close { try pushing?.close() }
  }

  private func startPush(
    by sender: (any NoticeSender)?, _ opened: ServiceOpening.Opened, _ logger: Logger
  ) async throws -> PushService? {
    guard let sender else { return nil }
    let bar = ProgressBar("push", total: opened.log.head.value, unit: .things("events"))
    defer { bar.finish() }
    return try await PushService.open(
      directory: data.views, feed: opened.chat.store, logIdentity: opened.log.identity.bytes, recorder: opened.chat,
      sender: sender, logger: logger, now: ChatService.now
    ) { done, total in bar.update(done, of: total) }
  }

  /// Requests are then served on the threads that read and write their sockets, which spares each several hops between
  /// threads (docs/performance.md has the figures). NIO calls it unsafe because it must come before the first task that
  /// needs the default executor, and because the hook may go; where it is gone, this does nothing.
  private func runTasksOnEventLoops() {
    _ = NIOSingletons.unsafeTryInstallSingletonPosixEventLoopGroupAsConcurrencyGlobalExecutor()
  }

  private func listenAddress() throws -> ListenAddress {
    if let listen { return listen }
    let text = ProcessInfo.processInfo.environment[ListenAddress.environmentName] ?? ListenAddress.usual
    guard let address = ListenAddress(argument: text) else {
      throw ToolError(
        "\(ListenAddress.environmentName) is no address", because: "\"\(text)\" is not HOST:PORT",
        next: "set it like \(ListenAddress.usual)")
    }
    return address
  }

  private func open(_ log: EmbeddedLog, _ logger: Logger) async throws -> ServiceOpening.Opened {
    let bar = ProgressBar("read models", total: log.head.value, unit: .things("events"))
    defer { bar.finish() }
    return try await ServiceOpening(
      directory: data.directory, tokenLifetimeMilliseconds: Int64(accessTokenLifetime) * 1000, logger: logger
    ).open(log: log, lastTime: log.lastTime) { done, total in bar.update(done, of: total) }
  }

  private func report(_ recovery: RecoveryReport, to logger: Logger) {
    guard let torn = recovery.tornTail else { return }
    logger.warning(
      "a torn tail was cut: what was not yet durable when the server stopped",
      metadata: [
        "position": "\(torn.position)", "bytes": "\(torn.bytes)", "savedAs": "\(torn.savedAs)",
        "reason": "\(torn.reason)",
      ])
  }

  private func announce(_ address: ListenAddress, _ port: Int) {
    let url = "http://" + address.authority(port: port)
    print("\n" + FirstConversation(url: url).text)
    print("\nHansard listens on \(url), data in \(data.directory).")
    print("The lines above are a first conversation: paste them.")
    fflush(nil)
  }

  /// Warnings and errors on standard error; `LOG_LEVEL` shows more.
  private static func logger() -> Logger {
    var logger = Logger(label: "hansard") { StreamLogHandler.standardError(label: $0) }
    let level = ProcessInfo.processInfo.environment["LOG_LEVEL"].flatMap { Logger.Level(rawValue: $0) }
    logger.logLevel = level ?? .warning
    return logger
  }
}
