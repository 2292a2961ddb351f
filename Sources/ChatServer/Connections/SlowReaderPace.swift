import NIOCore

/// Whether responses are read fast enough. While bytes wait, the client has some seconds, and bytes that move in either
/// direction extend that time. Time in which nothing waits does not count.
struct SlowReaderPace: Sendable, Hashable {
  private let bytesPerSecond: UInt64
  /// In nanoseconds.
  private let grace: UInt64
  /// The most time that can be saved up, in nanoseconds: as long as a connection may be idle.
  private static let longest = UInt64(clamping: StalledConnections.timeout.nanoseconds)
  /// When more bytes must have moved, in nanoseconds of a clock that only moves forward.
  private(set) var deadline: UInt64 = 0

  init(_ settings: ConnectionSettings) {
    bytesPerSecond = max(1, UInt64(clamping: settings.responseBytesPerSecond))
    grace = min(UInt64(clamping: settings.bodySeconds) * 1_000_000_000, Self.longest)
  }

  /// Called when bytes begin to wait.
  mutating func began(at now: UInt64) { deadline = max(deadline, now + grace) }

  mutating func noteMoved(_ bytes: Int, at now: UInt64) {
    let (bought, overflow) = UInt64(clamping: bytes).multipliedReportingOverflow(by: 1_000_000_000)
    let worth = overflow ? Self.longest : min(bought / bytesPerSecond, Self.longest)
    deadline = min(deadline + worth, now + Self.longest)
  }
}
