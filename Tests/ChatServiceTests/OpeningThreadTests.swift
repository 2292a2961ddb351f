import ChatPrimitives
import ChatProjections
import ChatService
import Dispatch
import EventLog
import Foundation
import Logging
import MediaFiles
import ProcessorTime
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

/// Records the kind of caller that logs that a file was moved aside.
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

/// Runs tasks on its own queue, and sums up the processor time that they take there.
private final class MeteredExecutor: TaskExecutor {
  private let queue = DispatchQueue(label: "metered")
  private let sum = Mutex(Duration.zero)

  /// Waits until the queued jobs have ended.
  var spent: Duration { queue.sync { sum.withLock { $0 } } }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async {
      let time = ProcessorTime.spent { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
      self.sum.withLock { $0 += time }
    }
  }
}

/// While a service opens, the server responds to liveness checks on the threads that run tasks. So nothing that waits
/// for the disk may run on these threads.
@Suite("A service is opened on threads that may block")
struct OpeningThreadTests {
  private let directory = FileManager.default.temporaryDirectory.appendingPathComponent("hansard-\(UUID())").path
  private let callers = CallerKinds()

  private func open(
    _ logger: Logger, _ clock: CheckedClock.Source, _ media: MediaStore.Settings = MediaStore.Settings()
  ) async throws -> ServiceOpening.Opened {
    let log = try EmbeddedLog.open(
      directory: directory, options: LogOptions(segmentBytes: 8 << 20, preparesAhead: false))
    var opening = ServiceOpening(directory: directory, tokenLifetimeMilliseconds: 900_000, logger: logger)
    (opening.clock, opening.media) = (clock, media)
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

  @Test("its keys and its media store, both made expensive in this test")
  func keysAndMedia() async throws {
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    try await open(logger, .system).close()
    let file = URL(filePath: directory + "/" + ServerKeys.fileName)
    let blankLines = Data(repeating: UInt8(ascii: "\n"), count: 2 << 20)
    try (Data(contentsOf: file) + blankLines).write(to: file)
    let media = MediaStore.Settings(programPath: String(repeating: "/missing:", count: 150_000))

    let executor = MeteredExecutor()
    let opened = try await withTaskExecutorPreference(executor) { try await open(logger, .system, media) }
    let onTasks = executor.spent
    let forKeys = try ProcessorTime.spent {
      _ = try ServerKeys.load(directory: directory, log: opened.log.identity.bytes, mayCreate: false)
    }
    let forMedia = try ProcessorTime.spent {
      try MediaStore(directory: directory + "/other", settings: media).close()
    }
    #expect(onTasks * 4 < min(forKeys, forMedia))
    try opened.close()
  }
}
