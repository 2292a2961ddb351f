import ChatPrimitives
import ChatProjections
import ChatPush
import ChatServer
import ChatService
import CoreMetrics
import EventLog
import Foundation
import Hummingbird
import Logging
import NIOCore
import NIOPosix
import NIOSSL
import ServerMetrics
import Synchronization

/// Runs a server, from reading its certificate to closing its data.
struct ServeRun {
  let settings: ServeSettings
  let servesBench: Bool
  let servesConformance: Bool

  func serve() async throws {
    // Loaded before anything is opened, so that a wrong setting changes nothing.
    let certificate = try loadCertificate()
    let metrics = ServeMetrics(settings.metrics)
    var push = try await settings.push.start()
    if let sender = push?.sender { push?.sender = MeteredSender(sender, metrics.factory) }
    do {
      try await serve(pushingTo: push, certificate, metrics)
    } catch {
      await push?.sender.close()
      throw error
    }
  }

  private func loadCertificate() throws -> TLSConfiguration? {
    do {
      return try settings.protection.tls?.load()
    } catch {
      throw ToolError(
        "TLS cannot be used", because: error.description, next: "correct tls.certificateFile and tls.keyFile")
    }
  }

  private func serve(
    pushingTo push: PushDestination?, _ certificate: TLSConfiguration?, _ metrics: ServeMetrics
  ) async throws {
    let logger = settings.log.logger()
    let sealing = LateReceiver()
    let log = try EmbeddedLog.open(directory: settings.data, options: metrics.logOptions(sealing, logger))
    report(log.recovery, to: logger)
    let gate = StartGate()
    var configuration = configuration(certificate, metrics, logger)
    configuration.failureExit = settings.storage.exitAfterFailureSeconds.map { LogFailureExit(afterSeconds: $0) }
    let running = Mutex(Phase.listening)
    let isNew = log.head == .origin
    do {
      try await HansardServer.run(gate, configuration, logger: logger) { [configuration] port in
        running.withLock { $0 = .opening }
        let service = try await start(log, sealing, pushingTo: push, gate, configuration, logger)
        running.withLock { $0 = .running(service) }
        metrics.sample(
          StatusMetrics(service.opened.chat, log, service.pushing, service.erasure, metrics.factory))
        announce(port, isNew: isNew)
      }
    } catch {
      try? await end(running.withLock { $0 }, log)
      throw error
    }
    // The listener of the metrics has ended, so nothing reads what is closed now.
    try await end(running.withLock { $0 }, log)
  }

  /// Determines what has to be closed at the end.
  private enum Phase {
    /// Only the log has to be closed.
    case listening
    /// Nothing has to be closed, because a failed opening closes the log itself.
    case opening
    case running(Running)
  }

  private struct Running: Sendable {
    let opened: ServiceOpening.Opened
    let pushing: PushService?
    let collection: MediaCollection
    let scheduler: MessageScheduler
    let erasure: ErasureService
    let watch: ClockWatch
    let storage: StorageWatch
    let fetcher: KeySetFetcher
  }

  private func end(_ phase: Phase, _ log: EmbeddedLog) async throws {
    switch phase {
    case .listening: try log.close()
    case .opening: break
    case .running(let running):
      await running.fetcher.close()
      await running.watch.stop()
      await running.storage.stop()
      await running.collection.stop()
      try await running.erasure.stop()
      try await close(running.opened, running.pushing, running.scheduler)
    }
  }

  /// Opens the data, then lets requests in.
  private func start(
    _ log: EmbeddedLog, _ sealing: LateReceiver, pushingTo push: PushDestination?, _ gate: StartGate,
    _ configuration: HansardServer.Configuration, _ logger: Logger
  ) async throws -> Running {
    let opened = try await open(log, gate, configuration, logger)
    let pushing: PushService?
    do {
      pushing = try await startPush(to: push, opened, logger)
    } catch {
      try? opened.close()
      throw error
    }
    if !opened.chat.makesThumbnails {
      logger.warning(
        "there are no thumbnails: vipsthumbnail, vipsheader or prlimit is not in PATH; install libvips-tools")
    }
    let collection = MediaCollection(of: opened.chat, logger: logger)
    let scheduler = MessageScheduler(opened.chat, logger: logger)
    let erasure = ErasureService(opened.chat, log, sealing, pushing, logger: logger)
    let fetcher = KeySetFetcher()
    let running = Running(
      opened: opened, pushing: pushing, collection: collection, scheduler: scheduler, erasure: erasure,
      watch: ClockWatch(opened.chat.clock), storage: StorageWatch(opened.chat.storage), fetcher: fetcher)
    do {
      try await serve(opened, pushing, fetcher, gate, configuration, logger)
    } catch {
      try? await end(.running(running), log)
      throw error
    }
    return running
  }

  private func serve(
    _ opened: ServiceOpening.Opened, _ pushing: PushService?, _ fetcher: KeySetFetcher, _ gate: StartGate,
    _ configuration: HansardServer.Configuration, _ logger: Logger
  ) async throws {
    let issuer = TokenIssuer(
      keys: opened.keys, signingKeys: opened.chat.signingKeys,
      accessTokenLifetimeSeconds: settings.accessTokenLifetimeSeconds)
    let administrator = AdministratorToken(opened.keys)
    try await NIOThreadPool.singleton.runIfActive { [settings] in try administrator.write(to: settings.data) }
    var push: (@Sendable () -> PushStatus)?
    if let pushing { push = { pushing.status } }
    let server = HansardServer(
      chat: opened.chat, issuer: issuer, administrator: administrator,
      identities: IdentityProviders(settings.identity.identity, fetcher: fetcher, logger: logger),
      push: push, pushExplanation: PushExplainer(opened.chat.store).explanation)
    server.serve(through: gate, configuration, logger: logger)
  }

  private func configuration(
    _ certificate: TLSConfiguration?, _ metrics: ServeMetrics, _ logger: Logger
  ) -> HansardServer.Configuration {
    var configuration = HansardServer.Configuration(
      host: settings.listen.host, port: settings.listen.port, servesBench: servesBench)
    configuration.servesConformance = servesConformance
    configuration.protection = settings.protection
    configuration.directPath = settings.http.directPath
    let shares = openFiles(logger)
    configuration.protection.connections.maximum = shares.connections
    configuration.downloads = shares.downloads
    configuration.tls = certificate
    configuration.deepLink = settings.deepLink
    configuration.allowsWebPushEndpoint = settings.push.providers.allowsWebPushEndpoint
    configuration.legacyStatus = settings.identity.legacyStatus
    configuration.endCursor = settings.identity.endCursor
    configuration.accessLog = settings.log.accessLog()
    configuration.metrics = metrics.factory
    configuration.metricsEndpoint = metrics.endpoint
    return configuration
  }

  private func openFiles(_ logger: Logger) -> OpenFiles.Shares {
    let configured = settings.protection.connections.maximum
    let limit = OpenFiles.raiseLimit()
    let possible = OpenFiles.shares(connections: configured, limit: limit)
    if possible.connections < configured {
      logger.notice(
        "the limit on open files allows fewer connections than connections.maximum; raise it with `ulimit -n`",
        metadata: ["accepted": "\(possible.connections)", "openFiles": "\(limit)"])
    }
    return possible
  }

  /// The order matters: push outcomes are recorded before the log closes, and the outbox closes after it has read them.
  private func close(
    _ opened: ServiceOpening.Opened, _ pushing: PushService?, _ scheduler: MessageScheduler
  ) async throws {
    await scheduler.stop()
    await pushing?.stopSending()
    // Closing waits for reads that have begun, and these end on the event loops, which must not wait themselves.
    try await NIOThreadPool.singleton.runIfActive { try opened.close { try pushing?.close() } }
  }

  private func startPush(
    to push: PushDestination?, _ opened: ServiceOpening.Opened, _ logger: Logger
  ) async throws -> PushService? {
    guard let push else { return nil }
    return try await PushService.open(
      directory: settings.readModelsDirectory, feed: opened.chat.store, logIdentity: opened.log.identity.bytes,
      recorder: opened.chat,
      sender: push.sender, logger: logger, now: { opened.chat.clock.settled },
      isOpen: { opened.chat.live.isOpen($0, $1, of: $2) }, threads: push.threads)
  }

  private func open(
    _ log: EmbeddedLog, _ gate: StartGate, _ configuration: HansardServer.Configuration, _ logger: Logger
  ) async throws -> ServiceOpening.Opened {
    let bar = ProgressBar("read models", total: log.head.value, unit: .items("events"))
    defer { bar.finish() }
    var opening = ServiceOpening(
      directory: settings.data, tokenLifetimeMilliseconds: Int64(settings.accessTokenLifetimeSeconds) * 1000,
      logger: logger)
    opening.media = settings.media
    opening.rules = settings.identity.rules
    opening.rules.allowsInvitesWithoutExpiry = settings.allowsInvitesWithoutExpiry
    opening.quotas = settings.quotas
    opening.metrics = configuration.metrics
    opening.lowStorageBytes = settings.storage.lowBytes
    if let exit = configuration.failureExit {
      opening.onLogFailure = { storage in
        let code = log.poison?.code
        // The open file is the only copy of a file that was deleted from the log: ending the process would lose it.
        guard code != .detached else { return }
        exit.noteFailure { code == .fullDisk && storage.status.level == .full }
      }
    }
    return try await opening.open(log: log, lastTime: log.lastTime) { progress in
      bar.update(progress.slowest.position.value, of: progress.head.value)
      gate.report(progress)
    }
  }

  private func report(_ recovery: RecoveryReport, to logger: Logger) {
    guard let torn = recovery.tornTail else { return }
    logger.warning(
      "an incomplete tail of the log was moved aside: it contained only writes that were never acknowledged",
      metadata: [
        "position": "\(torn.position)", "bytes": "\(torn.bytes)", "savedAs": "\(torn.savedAs)",
        "reason": "\(torn.reason)",
      ])
  }

  /// - Parameter isNew: whether the log has no event yet.
  private func announce(_ port: Int, isNew: Bool) {
    let url = (settings.protection.tls == nil ? "http://" : "https://") + settings.listen.authority(port: port)
    if isNew { print("\n" + FirstConversation(url: url).text + "\n") }
    print("Hansard listens on \(url), data in \(settings.data).")
    if isNew { print("The lines above are a first conversation. To try it, paste them into a shell.") }
    fflush(nil)
  }
}
