import ChatService
import EventLog
import Foundation
import Logging

/// Opens a service in a new directory, which is removed after the body. The body closes the service.
func withService(_ body: (ServiceOpening.Opened) async throws -> Void) async throws {
  let directory = FileManager.default.temporaryDirectory.appendingPathComponent("hansard-\(UUID())").path
  defer { try? FileManager.default.removeItem(atPath: directory) }
  let log = try EmbeddedLog.open(
    directory: directory, options: LogOptions(segmentBytes: 8 << 20, preparesAhead: false))
  let opening = ServiceOpening(
    directory: directory, tokenLifetimeMilliseconds: 900_000,
    logger: Logger(label: "test") { StreamLogHandler.standardError(label: $0) })
  try await body(try await opening.open(log: log, lastTime: log.lastTime))
}
