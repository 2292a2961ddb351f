import ChatPrimitives
import ChatPush
import ChatServer
import ChatService
import EventLog
import Foundation
import Hummingbird
import Logging
import NIOCore
import NIOSSL

/// A server from its settings to its end.
struct ServeRun {
  let settings: ServeSettings
  let servesBench: Bool

  func serve() async throws {
    // Before anything is opened: a wrong setting changes nothing.
    let certificate = try loadCertificate()
    let sender = try settings.push.sender()
    do {
      try await serve(sendingBy: sender, certificate)
    } catch {
      await sender?.close()
      throw error
    }
  }

  private func loadCertificate() throws -> TLSConfiguration? {
    do {
      return try settings.protection.tls?.load()
    } catch {
      throw ToolError(
        "TLS cannot be served", because: error.description, next: "correct tls.certificateFile and tls.keyFile")
    }
  }

  private func serve(sendingBy sender: (any NoticeSender)?, _ certificate: TLSConfiguration?) async throws {
    let logger = Self.logger()
    let log = try EmbeddedLog.open(
      directory: settings.data,
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
    if !opened.chat.makesThumbnails {
      logger.warning("there are no thumbnails: vipsthumbnail, vipsheader or prlimit is not in PATH (libvips-tools)")
    }
    let collection = MediaCollection(of: opened.chat, logger: logger)
    let scheduler = MessageScheduler(opened.chat, logger: logger)
    let watch = ClockWatch(opened.chat.clock)
    do {
      try await answer(opened, certificate, logger)
    } catch {
      await watch.stop()
      await collection.stop()
      try? await close(opened, pushing, scheduler)
      throw error
    }
    await watch.stop()
    await collection.stop()
    try await close(opened, pushing, scheduler)
  }

  /// Answers requests until the process is told to stop.
  private func answer(
    _ opened: ServiceOpening.Opened, _ certificate: TLSConfiguration?, _ logger: Logger
  ) async throws {
    let issuer = TokenIssuer(
      keys: opened.keys, signingKeys: opened.chat.signingKeys,
      accessTokenLifetimeSeconds: settings.accessTokenLifetimeSeconds)
    let administrator = AdministratorToken(opened.keys)
    try administrator.write(to: settings.data)
    let fetcher = KeySetFetcher()
    let server = HansardServer(
      chat: opened.chat, issuer: issuer, administrator: administrator,
      identities: IdentityProviders(settings.identity.identity, fetcher: fetcher, logger: logger))
    let application = server.application(configuration(certificate, logger), logger: logger) { port in announce(port) }
    do {
      try await HansardServer.run(application)
    } catch {
      await fetcher.close()
      throw error
    }
    await fetcher.close()
  }

  private func configuration(_ certificate: TLSConfiguration?, _ logger: Logger) -> HansardServer.Configuration {
    var configuration = HansardServer.Configuration(
      host: settings.listen.host, port: settings.listen.port, servesBench: servesBench)
    configuration.protection = settings.protection
    configuration.protection.connections.maximum = connections(logger)
    configuration.tls = certificate
    configuration.deepLink = settings.deepLink
    configuration.legacyStatus = settings.identity.legacyStatus
    configuration.endCursor = settings.identity.endCursor
    return configuration
  }

  private func connections(_ logger: Logger) -> Int {
    let wanted = settings.protection.connections.maximum
    let limit = OpenFiles.raiseLimit()
    let possible = OpenFiles.connections(wanted: wanted, limit: limit)
    if possible < wanted {
      logger.notice(
        "fewer connections are accepted than connections.maximum allows: the system lets the process open no more files",
        metadata: ["accepted": "\(possible)", "openFiles": "\(limit)"])
    }
    return possible
  }

  /// Outcomes are recorded before the log takes no more, and the outbox is closed when it has seen them.
  private func close(
    _ opened: ServiceOpening.Opened, _ pushing: PushService?, _ scheduler: MessageScheduler
  ) async throws {
    await scheduler.stop()
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
      directory: settings.views, feed: opened.chat.store, logIdentity: opened.log.identity.bytes, recorder: opened.chat,
      sender: sender, logger: logger, now: opened.chat.now
    ) { done, total in bar.update(done, of: total) }
  }

  private func open(_ log: EmbeddedLog, _ logger: Logger) async throws -> ServiceOpening.Opened {
    let bar = ProgressBar("read models", total: log.head.value, unit: .things("events"))
    defer { bar.finish() }
    var opening = ServiceOpening(
      directory: settings.data, tokenLifetimeMilliseconds: Int64(settings.accessTokenLifetimeSeconds) * 1000,
      logger: logger)
    opening.media = settings.media
    opening.rules = settings.identity.rules
    opening.quotas = settings.quotas
    return try await opening.open(log: log, lastTime: log.lastTime) { done, total in bar.update(done, of: total) }
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

  private func announce(_ port: Int) {
    let url = (settings.protection.tls == nil ? "http://" : "https://") + settings.listen.authority(port: port)
    print("\n" + FirstConversation(url: url).text)
    print("\nHansard listens on \(url), data in \(settings.data).")
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
