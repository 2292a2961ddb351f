import ChatPrimitives
import ChatService
import Logging
import Synchronization
import Testing

@testable import ChatProjections

/// Collects the lines that are logged.
private final class LogLines: Sendable {
  private let lines = Mutex<[String]>([])

  var all: [String] { lines.withLock { $0 } }
  func add(_ line: String) { lines.withLock { $0.append(line) } }
}

private struct LineKeeper: LogHandler {
  let lines: LogLines
  var metadata: Logger.Metadata = [:]
  var logLevel = Logger.Level.trace

  init(_ lines: LogLines) { self.lines = lines }

  func log(event: LogEvent) { lines.add("\(event.message): \(event.metadata?["progress"]?.description ?? "")") }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }
}

@Suite(.timeLimit(.minutes(1))) struct CatchUpSpecs {
  private let head = LogPosition(9)
  private let lines = LogLines()

  private func catchUp(after interval: Duration) -> CatchUp {
    let lines = lines
    return CatchUp(
      reporting: "no progress", after: interval, logger: Logger(label: "test") { _ in LineKeeper(lines) })
  }

  private static func status(_ position: UInt64, _ fault: ProjectionFault? = nil) -> ProjectionStatus {
    ProjectionStatus(name: "search", position: LogPosition(position), target: nil, fault: fault)
  }

  private static func fault(_ kind: ProjectionFault.Kind) -> ProjectionFault {
    ProjectionFault(
      projection: "search", file: "search.sqlite", kind: kind, position: LogPosition(3), message: "m", advice: "a")
  }

  @Test("no progress is reported each time that it has lasted, with how far it is, and is waited for")
  func idle() async throws {
    let lines = lines
    try await catchUp(after: .milliseconds(1)).wait(
      for: head, statuses: { [Self.status(lines.all.count < 2 ? 3 : 9)] })
    let line = "no progress: the read model search has applied 3 of 9 events"
    #expect(lines.all == [line, line])
  }

  /// Waits, and returns how often the status was read.
  private func looks(_ status: @escaping @Sendable (Int) -> ProjectionStatus) async throws -> Int {
    let looks = Mutex(0)
    try await catchUp(after: .seconds(3600)).wait(
      for: head,
      statuses: {
        let count = looks.withLock { looks in
          looks += 1
          return looks
        }
        return [status(count)]
      })
    return looks.withLock { $0 }
  }

  @Test("a read model that makes progress is not reported")
  func moving() async throws {
    let position = Mutex<UInt64>(0)
    try await catchUp(after: .milliseconds(1)).wait(
      for: head,
      statuses: {
        [
          Self.status(
            position.withLock { position in
              position += 1
              return position
            })
        ]
      })
    #expect(lines.all.isEmpty)
  }

  @Test("a short time without progress is not reported")
  func patient() async throws {
    _ = try await looks { count in Self.status(count < 5 ? 3 : 9) }
    #expect(lines.all.isEmpty)
  }

  @Test("a temporary fault at the head is waited for, and a halt is an error")
  func faults() async throws {
    let count = try await looks { count in Self.status(9, count < 3 ? Self.fault(.temporary) : nil) }
    #expect(count == 3)
    await #expect(throws: OpeningError.self) {
      try await catchUp(after: .seconds(3600)).wait(
        for: head, statuses: { [Self.status(3, Self.fault(.permanent))] })
    }
  }
}
