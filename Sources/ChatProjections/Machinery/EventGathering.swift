/// Decides how long a read model gathers events before its next transaction, while no reader waits: in one or more delays
/// of the same length.
///
/// The more events a transaction has, the less each of them costs, but a reader who arrives has to wait for all of them. So
/// read models that gather for longer in bursts gather even more while nobody has read for a while, as during an import.
struct EventGathering: Sendable, Hashable {
  /// How many waiting events end the gathering while nobody has read for a while.
  static let enoughEventsWithoutReaders: UInt64 = 16_384
  /// The maximum sum of the delays while nobody has read for a while, in milliseconds.
  static let longestMillisecondsWithoutReaders = 1_000
  /// How many events must arrive during a delay for another one to follow.
  static let busyEvents: UInt64 = 64

  /// The length of a delay, in milliseconds.
  let delay: Int
  /// The sum of all delays is at most this, or one delay if that is longer.
  let longest: Int
  /// When so many events are waiting, no further delay follows.
  let enough: UInt64
  private var waited = 0
  private var waiting: UInt64 = 0

  init(_ projection: any Projection.Type, hasRecentReader: Bool) {
    let delay = projection.gatheringMilliseconds
    let (longest, enough) = (projection.longestGatheringMilliseconds, UInt64(clamping: projection.gatheredEvents))
    let gathersMore = !hasRecentReader && projection.gathersLongerInBursts
    self.init(
      delay: delay, longest: gathersMore ? max(longest, Self.longestMillisecondsWithoutReaders) : longest,
      enough: gathersMore ? max(enough, Self.enoughEventsWithoutReaders) : enough)
  }

  init(delay: Int, longest: Int, enough: UInt64) {
    self.delay = delay
    self.longest = longest
    self.enough = enough
  }

  /// Call this after each delay.
  /// - Parameter events: how many are waiting.
  /// - Returns: whether another delay follows.
  mutating func goesOn(waiting events: UInt64) -> Bool {
    let arrived = events - min(events, waiting)
    waited += delay
    waiting = events
    return arrived >= Self.busyEvents && events < enough && waited + delay <= longest
  }
}
