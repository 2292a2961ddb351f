import ChatPrimitives
import ChatService
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import ChatServer

/// Runs tasks on threads that serve no connections, and counts their jobs. A task is a new job each time it continues
/// after a yield or a wait.
private final class JobCounter: TaskExecutor {
  private let jobs = Mutex(0)

  var count: Int { jobs.withLock { $0 } }

  func enqueue(_ job: consuming ExecutorJob) {
    jobs.withLock { $0 += 1 }
    let job = UnownedJob(job)
    let executor = asUnownedTaskExecutor()
    NIOThreadPool.singleton.submit { _ in job.runSynchronously(on: executor) }
  }
}

private struct NoWriter: ResponseBodyWriter {
  mutating func write(_ buffer: ByteBuffer) {}
  consuming func finish(_ trailingHeaders: HTTPFields?) {}
}

@Suite("An ingest yields its thread to others", .timeLimit(.minutes(1)))
struct IngestYieldSpecs {
  private static let service = ServiceID(UUIDBytes(high: 9, low: 9))

  /// A body that arrives in one piece, which is the worst case: waiting for the next piece would also yield the thread.
  struct Body: CustomTestStringConvertible, Sendable {
    let testDescription: String
    /// A body that takes as many jobs as the long one, apart from its yields.
    let short: String
    let long: String
    /// How many more times the long body must yield.
    let yields: Int
  }

  static let bodies = [
    Body(
      testDescription: "every 16 lines", short: "{}\n", long: String(repeating: "{}\n", count: 481),
      yields: 30),
    Body(
      testDescription: "after 4 KiB of lines", short: lines(50, bytes: 20), long: lines(50, bytes: 4097),
      yields: 50),
    Body(
      testDescription: "every 1,024 blank lines", short: "\n", long: String(repeating: "\n", count: 1024 * 30 + 1),
      yields: 30),
  ]

  private static func lines(_ count: Int, bytes: Int) -> String {
    let text = String(repeating: "x", count: bytes - #"{"op":""}"#.utf8.count)
    return String(repeating: #"{"op":"\#(text)"}"# + "\n", count: count)
  }

  /// How many jobs the tasks of an ingest have. No line is a command, so nothing else runs on the executor.
  private func jobs(_ body: String, _ chat: ChatService) async throws -> Int {
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    let ingest = IngestRun(
      chat: chat, limiter: RateLimiter(RateLimitSettings()), caller: Principal(service: Self.service),
      reservation: nil, logger: logger)
    let incoming = IncomingBody(body: RequestBody(buffer: ByteBuffer(string: body)), logger: logger)
    let counter = JobCounter()
    try await withTaskExecutorPreference(counter) {
      var writer: any ResponseBodyWriter = NoWriter()
      try await ingest.respond(incoming, &writer)
    }
    return counter.count
  }

  @Test("so that a long body delays nobody", arguments: bodies)
  func yields(body: Body) async throws {
    try await withService { opened in
      let (short, long) = (try await jobs(body.short, opened.chat), try await jobs(body.long, opened.chat))
      // How often the three tasks of an ingest wait for each other differs a little from run to run.
      #expect(long - short > body.yields - 10, "\(short) and \(long) jobs")
      try opened.close()
    }
  }
}
