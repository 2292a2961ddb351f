import ChatDomain
import ChatPrimitives
import ChatProjections
import ChatPush
import ChatService
import EventLog
import EventStore
import Foundation
import Logging
import MediaFiles

/// A service with a real log and real SQLite files in a temporary directory, which can be closed and opened again. It
/// also has the push outbox.
final class ModelFixture {
  /// Quotas so small that some commands reach them.
  static let quotas = Quotas(messagesPerDay: 6, mediaBytesPerDay: 40)

  /// The lifetime of an access token.
  static let tokenLifetimeMilliseconds: Int64 = 900_000

  let directory: String
  private let clock: ModelClock
  private(set) var opened: ServiceOpening.Opened
  private(set) var outbox: ProjectionRunner<PushProjection>

  var chat: ChatService { opened.chat }

  init(clock: ModelClock) async throws {
    self.clock = clock
    directory = FileManager.default.temporaryDirectory.appendingPathComponent("hansard-model-\(UUID())").path
    opened = try await Self.open(directory, clock)
    outbox = try Self.follow(opened, directory)
    // The outbox is empty before this.
    try await chat.recordPushOutcomes(PushOutcomes(settledThrough: .origin, outcomes: []))
  }

  /// Restarts the service as if the server was stopped and started.
  /// - Parameter keepsReadModels: if false, all read models are rebuilt from the log.
  func restart(keepsReadModels: Bool) async throws {
    try close()
    if !keepsReadModels { try FileManager.default.removeItem(atPath: readModels) }
    opened = try await Self.open(directory, clock)
    outbox = try Self.follow(opened, directory)
  }

  func remove() throws {
    try close()
    try FileManager.default.removeItem(atPath: directory)
  }

  var readModels: String { Self.readModels(directory) }

  private static func readModels(_ directory: String) -> String { directory + "/views" }

  private func close() throws { try opened.close { [outbox] in try outbox.stop() } }

  private static func follow(
    _ opened: ServiceOpening.Opened, _ directory: String
  ) throws -> ProjectionRunner<PushProjection> {
    let outbox = try ProjectionRunner<PushProjection>.open(
      directory: readModels(directory), feed: opened.chat.store, logIdentity: opened.chat.logIdentity,
      logger: Logger(label: "model") { StreamLogHandler.standardError(label: $0) })
    outbox.start()
    return outbox
  }

  private static func open(_ directory: String, _ clock: ModelClock) async throws -> ServiceOpening.Opened {
    let log = try EmbeddedLog.open(
      directory: directory, options: LogOptions(segmentBytes: 1 << 20, preparesAhead: false))
    var opening = ServiceOpening(
      directory: directory, tokenLifetimeMilliseconds: tokenLifetimeMilliseconds,
      logger: Logger(label: "model") { StreamLogHandler.standardError(label: $0) })
    opening.passwordCost.logRounds = 4
    opening.quotas = quotas
    opening.rules.allowsInvitesWithoutExpiry = true
    // Files have the times of the system clock, so their age by the model's clock means nothing.
    opening.media.unreferencedSeconds = .max / 2
    opening.clock = .believed({ clock.now() })
    return try await opening.open(log: log, lastTime: log.lastTime)
  }
}
