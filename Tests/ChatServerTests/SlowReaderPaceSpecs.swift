import Testing

@testable import ChatServer

@Suite("The pace of answers")
struct SlowReaderPaceSpecs {
  private static let second: UInt64 = 1_000_000_000

  /// A grace period of ten seconds, then 100 bytes per second.
  private static func pace() -> SlowReaderPace {
    var settings = ConnectionSettings()
    settings.bodySeconds = 10
    settings.answerBytesPerSecond = 100
    return SlowReaderPace(settings)
  }

  @Test("who takes nothing has the grace")
  func nothing() {
    var pace = Self.pace()
    pace.began(at: 5 * Self.second)
    pace.moved(0, at: 5 * Self.second)
    #expect(pace.deadline == 15 * Self.second)
  }

  @Test("what moves buys time, and no more than a connection may stand still")
  func bought() {
    var pace = Self.pace()
    pace.began(at: 0)
    pace.moved(300, at: Self.second)
    #expect(pace.deadline == 13 * Self.second)
    pace.moved(.max, at: 2 * Self.second)
    #expect(pace.deadline == 62 * Self.second)
    pace.moved(1_000, at: 3 * Self.second)
    #expect(pace.deadline == 63 * Self.second)
  }

  @Test("time in which nothing waits costs nothing")
  func rested() {
    var pace = Self.pace()
    pace.began(at: 0)
    pace.began(at: 1_000 * Self.second)
    #expect(pace.deadline == 1_010 * Self.second)
    // What was bought is kept when bytes wait again soon.
    pace.moved(2_000, at: 1_000 * Self.second)
    pace.began(at: 1_005 * Self.second)
    #expect(pace.deadline == 1_030 * Self.second)
  }
}
