import Testing

@testable import ChatServer

@Suite("The pace of slow readers")
struct SlowReaderPaceSpecs {
  private static let second: UInt64 = 1_000_000_000

  /// A grace period of ten seconds, then 100 bytes per second.
  private static func pace() -> SlowReaderPace {
    var settings = ConnectionSettings()
    settings.bodySeconds = 10
    settings.responseBytesPerSecond = 100
    return SlowReaderPace(settings)
  }

  @Test("a client that reads nothing gets the grace period")
  func nothing() {
    var pace = Self.pace()
    pace.began(at: 5 * Self.second)
    pace.noteMoved(0, at: 5 * Self.second)
    #expect(pace.deadline == 15 * Self.second)
  }

  @Test("bytes that are read extend the deadline, up to a limit")
  func bought() {
    var pace = Self.pace()
    pace.began(at: 0)
    pace.noteMoved(300, at: Self.second)
    #expect(pace.deadline == 13 * Self.second)
    pace.noteMoved(.max, at: 2 * Self.second)
    #expect(pace.deadline == 62 * Self.second)
    pace.noteMoved(1_000, at: 3 * Self.second)
    #expect(pace.deadline == 63 * Self.second)
  }

  @Test("time without waiting bytes does not count")
  func rested() {
    var pace = Self.pace()
    pace.began(at: 0)
    pace.began(at: 1_000 * Self.second)
    #expect(pace.deadline == 1_010 * Self.second)
    // Time that was earned by reading is kept if bytes wait again soon.
    pace.noteMoved(2_000, at: 1_000 * Self.second)
    pace.began(at: 1_005 * Self.second)
    #expect(pace.deadline == 1_030 * Self.second)
  }
}
