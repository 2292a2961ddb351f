/// Decides how long a read model gathers events before its next transaction, while no reader waits: in one or more delays
/// of the same length.
struct EventGathering: Sendable, Hashable {
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

  init(_ projection: any Projection.Type) {
    self.init(
      delay: projection.gatheringMilliseconds, longest: projection.longestGatheringMilliseconds,
      enough: UInt64(clamping: projection.gatheredEvents))
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
