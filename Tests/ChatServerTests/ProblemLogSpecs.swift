import Logging
import Synchronization
import Testing

@testable import ChatServer

/// The lines of the server's log about problems that clients get.
@Suite struct ProblemLogSpecs {
  private final class Clock: Sendable {
    private let now = Mutex<UInt64>(1_000_000_000)
    var nanoseconds: UInt64 { now.withLock { $0 } }
    func advance(seconds: UInt64) { now.withLock { $0 += seconds * 1_000_000_000 } }
  }

  private let captured = CapturedLog()
  private let clock = Clock()

  private func note(_ count: Int, in problems: ProblemLog) {
    for _ in 0..<count { problems.note("room_not_found", status: 404, route: "GET /x", to: captured.logger) }
  }

  @Test("a line has the route, the status and the code")
  func line() throws {
    note(1, in: ProblemLog())
    let line = try #require(captured.lines.first)
    #expect(line.level == .notice)
    #expect(line.metadata == ["route": "GET /x", "status": "404", "code": "room_not_found"])
  }

  @Test("as many as a burst are logged, then some per second, and the rest is counted")
  func limit() {
    let problems = ProblemLog(clock: { [clock] in clock.nanoseconds })
    note(ProblemLog.burst - 1, in: problems)
    #expect(captured.lines.count == ProblemLog.burst - 1)
    note(3, in: problems)
    #expect(captured.lines.count == ProblemLog.burst)
    clock.advance(seconds: 1)
    note(1, in: problems)
    #expect(captured.lines.dropFirst(ProblemLog.burst).map(\.level) == [.warning, .notice])
    #expect(captured.lines[ProblemLog.burst].metadata == ["leftOut": "2"])
    note(ProblemLog.perSecond, in: problems)
    #expect(captured.lines.count == ProblemLog.burst + 1 + ProblemLog.perSecond)
  }
}
