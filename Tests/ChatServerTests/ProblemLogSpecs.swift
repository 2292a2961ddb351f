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

  private static let client = NetworkAddress("192.0.2.1")

  private func note(_ count: Int, of address: NetworkAddress? = Self.client, in problems: ProblemLog) {
    for _ in 0..<count {
      problems.note("room_not_found", status: 404, route: "GET /x", from: address, to: captured.logger)
    }
  }

  /// As many clients as together have the share of all.
  private func clients() throws -> [NetworkAddress] {
    try (1...ProblemLog.ofAll.burst / ProblemLog.ofAddress.burst).map {
      try #require(NetworkAddress("198.51.100.\($0)"))
    }
  }

  @Test("a line has the route, the status and the code")
  func line() throws {
    note(1, in: ProblemLog())
    let line = try #require(captured.lines.first)
    #expect(line.level == .notice)
    #expect(line.metadata == ["route": "GET /x", "status": "404", "code": "room_not_found"])
  }

  @Test("as many as a burst are logged, then some per second, and the rest is counted", arguments: [client, nil])
  func limitOfAddress(client: NetworkAddress?) {
    let problems = ProblemLog(clock: { [clock] in clock.nanoseconds })
    let share = ProblemLog.ofAddress
    note(share.burst - 1, of: client, in: problems)
    #expect(captured.lines.count == share.burst - 1)
    note(3, of: client, in: problems)
    #expect(captured.lines.count == share.burst)
    clock.advance(seconds: 1)
    note(1, of: client, in: problems)
    #expect(captured.lines.count == share.burst + 1)
    #expect(captured.lines[share.burst].metadata["leftOut"] == "2")
    note(share.perSecond, of: client, in: problems)
    #expect(captured.lines.count == share.burst + share.perSecond)
    #expect(captured.lines[share.burst + 1].metadata["leftOut"] == nil)
  }

  @Test("a client that causes many problems does not keep those of others out of the log")
  func others() throws {
    let problems = ProblemLog(clock: { [clock] in clock.nanoseconds })
    note(10 * ProblemLog.ofAll.burst, in: problems)
    let before = captured.lines.count
    for client in try clients().dropLast() { note(1, of: client, in: problems) }
    #expect(captured.lines.count == before + (try clients().count - 1))
    #expect(captured.lines[before].metadata["leftOut"] != nil)
  }

  @Test("many clients together have one limit")
  func limitOfAll() throws {
    let problems = ProblemLog(clock: { [clock] in clock.nanoseconds })
    for client in try clients() { note(ProblemLog.ofAddress.burst, of: client, in: problems) }
    #expect(captured.lines.count == ProblemLog.ofAll.burst)
    note(1, in: problems)
    #expect(captured.lines.count == ProblemLog.ofAll.burst)
  }

  @Test("the addresses of one IPv6 network have one limit")
  func network() throws {
    let problems = ProblemLog(clock: { [clock] in clock.nanoseconds })
    for host in ["2001:db8::1", "2001:db8::2"] {
      note(ProblemLog.ofAddress.burst, of: try #require(NetworkAddress(host)), in: problems)
    }
    #expect(captured.lines.count == ProblemLog.ofAddress.burst)
  }
}
