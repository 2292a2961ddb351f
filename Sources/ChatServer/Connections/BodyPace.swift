/// Whether a body comes in fast enough: it has some seconds, and what has come in by then buys it more. A client that
/// drips holds a connection no longer than its bytes are worth.
struct BodyPace: Sendable, Hashable {
  private let bytesPerSecond: UInt64
  /// In nanoseconds.
  private let grace: UInt64
  private let began: UInt64
  private(set) var received: UInt64 = 0

  /// - Parameters:
  ///   - bytesPerSecond: that the body must bring.
  ///   - began: in nanoseconds of a clock that only moves forward, as is `deadline`.
  init(_ settings: ConnectionSettings, bytesPerSecond: Int, began: UInt64, received: UInt64 = 0) {
    self.bytesPerSecond = max(1, UInt64(clamping: bytesPerSecond))
    grace = UInt64(clamping: settings.bodySeconds) * 1_000_000_000
    self.began = began
    self.received = received
  }

  mutating func came(_ bytes: Int) { received += UInt64(clamping: bytes) }

  /// When more must have come, or the end.
  var deadline: UInt64 {
    let (bought, overflow) = received.multipliedReportingOverflow(by: 1_000_000_000)
    return began + grace + (overflow ? .max / 4 : bought / bytesPerSecond)
  }
}
