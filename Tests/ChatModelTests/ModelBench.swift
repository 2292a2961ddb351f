import ChatDomain
import ChatPrimitives
import ChatProjections
import ChatPush
import ChatService
import EventLog
import EventStore
import Foundation
import Logging

/// A service over a real log and real SQLite files in a temporary directory, which can be closed and opened again. What
/// push keeps of the log stands beside them.
final class ModelBench {
  /// So little that some come up against it.
  static let quotas = Quotas(messagesPerDay: 6, mediaBytesPerDay: 40)

  /// Of an access token.
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
    // Nothing is put into the outbox before.
    try await chat.recordPushOutcomes(PushOutcomes(settledThrough: .origin, outcomes: []))
  }

  /// As a server does that is stopped and started.
  /// - Parameter keepsReadModels: without them, all are made again from the log.
  func restart(keepsReadModels: Bool) async throws {
    try close()
    if !keepsReadModels { try FileManager.default.removeItem(atPath: views) }
    opened = try await Self.open(directory, clock)
    outbox = try Self.follow(opened, directory)
  }

  func remove() throws {
    try close()
    try FileManager.default.removeItem(atPath: directory)
  }

  var views: String { Self.views(directory) }

  private static func views(_ directory: String) -> String { directory + "/views" }

  private func close() throws { try opened.close { [outbox] in try outbox.stop() } }

  private static func follow(
    _ opened: ServiceOpening.Opened, _ directory: String
  ) throws -> ProjectionRunner<PushProjection> {
    let outbox = try ProjectionRunner<PushProjection>.open(
      directory: views(directory), feed: opened.chat.store, logIdentity: opened.chat.logIdentity,
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
    opening.clock = .believed({ clock.now() })
    return try await opening.open(log: log, lastTime: log.lastTime)
  }
}
