import CoreMetrics
import Synchronization

/// A total that is a whole number.
final class AtomicCount: CounterHandler {
  private let count = Atomic<Int64>(0)

  var value: Int64 { count.load(ordering: .relaxed) }

  func increment(by amount: Int64) { count.wrappingAdd(amount, ordering: .relaxed) }
  func reset() { count.store(0, ordering: .relaxed) }
}

/// A number that is set, or goes up and down.
final class AtomicNumber: MeterHandler, FloatingPointCounterHandler, RecorderHandler {
  private let bits = Atomic<UInt64>(0)

  var value: Double { Double(bitPattern: bits.load(ordering: .relaxed)) }

  func set(_ value: Int64) { set(Double(value)) }
  func set(_ value: Double) { bits.store(value.bitPattern, ordering: .relaxed) }

  func record(_ value: Int64) { set(value) }
  func record(_ value: Double) { set(value) }

  func increment(by amount: Double) {
    var old = bits.load(ordering: .relaxed)
    while true {
      let new = (Double(bitPattern: old) + amount).bitPattern
      let (exchanged, original) = bits.weakCompareExchange(expected: old, desired: new, ordering: .relaxed)
      if exchanged { return }
      old = original
    }
  }

  func decrement(by amount: Double) { increment(by: -amount) }
  func reset() { set(0.0) }
}

/// Values counted by size. A value changes two counts, each by one atomic operation.
final class Distribution: TimerHandler, RecorderHandler {
  static let defaultBounds = [0.001, 0.01, 0.1, 1, 10]
  /// In seconds.
  static let nanosecond = 1e-9

  let bounds: [Double]
  /// What 1 is when it is recorded, in the unit that is served.
  let unit: Double
  /// The bounds in the unit that is recorded.
  private let recordedBounds: [Int64]
  /// One for each bound, and one for larger values.
  private let buckets: [AtomicCount]
  private let total = AtomicCount()

  init(bounds: [Double], unit: Double) {
    self.bounds = bounds
    self.unit = unit
    recordedBounds = bounds.map { Int64(($0 / unit).rounded()) }
    buckets = (0...bounds.count).map { _ in AtomicCount() }
  }

  func record(_ value: Int64) {
    var index = 0
    while index < recordedBounds.count, value > recordedBounds[index] { index += 1 }
    buckets[index].increment(by: 1)
    total.increment(by: value)
  }

  /// Ignores what is not a number or too large for one.
  func record(_ value: Double) {
    if let whole = Int64(exactly: value.rounded()) { record(whole) }
  }
  func recordNanoseconds(_ duration: Int64) { record(duration) }

  /// The number of values in each bucket, from the smallest to the largest.
  var counts: [Int64] { buckets.map(\.value) }
  /// In the unit that is served.
  var sum: Double { Double(total.value) * unit }
}
