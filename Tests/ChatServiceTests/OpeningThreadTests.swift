import ChatPrimitives
import ChatProjections
import ChatService
import EventLog
import Foundation
import Logging
import Synchronization
import Testing

/// Records whether each caller is a task. Tasks run on the shared threads, which must not block.
private final class CallerKinds: Sendable {
  private let areTasks = Mutex<Set<Bool>>([])

  var all: Set<Bool> { areTasks.withLock { $0 } }

  func recordCurrent() {
    let isTask = withUnsafeCurrentTask { $0 != nil }
    areTasks.withLock { _ = $0.insert(isTask) }
  }
}

/// Records who logs that a file was moved aside.
private struct MovedAsideHandler: LogHandler {
  let callers: CallerKinds
  var metadata: Logger.Metadata = [:]
  var logLevel = Logger.Level.trace

  init(_ callers: CallerKinds) { self.callers = callers }

  func log(event: LogEvent) {
    if event.metadata?["aside"] != nil { callers.recordCurrent() }
  }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }
}

/// While a service opens, the server responds to liveness checks on the threads that run tasks. So nothing that waits for
/// the disk may run there.
@Suite("A service is opened on threads that may block")
struct OpeningThreadTests {
  private let directory = FileManager.default.temporaryDirectory.appendingPathComponent("hansard-\(UUID())").path
  private let callers = CallerKinds()

  private func open(_ logger: Logger, _ clock: CheckedClock.Source) async throws -> ServiceOpening.Opened {
    let log = try EmbeddedLog.open(
      directory: directory, options: LogOptions(segmentBytes: 8 << 20, preparesAhead: false))
    var opening = ServiceOpening(directory: directory, tokenLifetimeMilliseconds: 900_000, logger: logger)
    opening.clock = clock
    return try await opening.open(log: log, lastTime: log.lastTime)
  }

  @Test("its read models")
  func readModels() async throws {
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let logger = Logger(label: "test") { [callers] _ in MovedAsideHandler(callers) }
    try await open(logger, .system).close()
    // A directory in place of a file is moved aside when the read model is opened.
    let file = ProjectionFile(AccountsProjection.self, in: directory + "/views").path
    try FileManager.default.removeItem(atPath: file)
    try FileManager.default.createDirectory(atPath: file, withIntermediateDirectories: false)
    let opened = try await open(logger, .system)
    #expect(callers.all == [false])
    try opened.close()
  }

  @Test("its clock and its decision state, both of which come from files")
  func state() async throws {
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let clock = CheckedClock.Source.readings { [callers] in
      callers.recordCurrent()
      return TrustedTime.Reading(wall: ChatService.now(), uptime: 0)
    }
    let opened = try await open(Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, clock)
    #expect(callers.all == [false])
    try opened.close()
  }
}
