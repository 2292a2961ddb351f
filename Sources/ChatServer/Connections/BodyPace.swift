/// Whether a body arrives fast enough. It has some seconds at first, and the bytes that arrive extend that time. A
/// client that sends too slowly therefore cannot hold a connection for long.
struct BodyPace: Sendable, Hashable {
  private let bytesPerSecond: UInt64
  /// In nanoseconds.
  private let grace: UInt64
  private let began: UInt64
  private(set) var received: UInt64 = 0

  /// - Parameters:
  ///   - bytesPerSecond: the average rate at which the body must arrive.
  ///   - began: in nanoseconds of a clock that only moves forward, as is `deadline`.
  init(_ settings: ConnectionSettings, bytesPerSecond: Int, began: UInt64, received: UInt64 = 0) {
    self.bytesPerSecond = max(1, UInt64(clamping: bytesPerSecond))
    grace = UInt64(clamping: settings.bodySeconds) * 1_000_000_000
    self.began = began
    self.received = received
  }

  mutating func noteReceived(_ bytes: Int) { received += UInt64(clamping: bytes) }

  /// When more bytes, or the end of the body, must have arrived.
  var deadline: UInt64 {
    let (bought, overflow) = received.multipliedReportingOverflow(by: 1_000_000_000)
    return began + grace + (overflow ? .max / 4 : bought / bytesPerSecond)
  }
}
