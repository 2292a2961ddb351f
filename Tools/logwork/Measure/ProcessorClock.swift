import Glibc

/// Processor time that has passed, in seconds: of the whole process, or of one thread.
struct ProcessorClock: Sendable {
  private let id: clockid_t

  /// The time of all threads, those that have ended included.
  static let process = ProcessorClock(id: CLOCK_PROCESS_CPUTIME_ID)
  /// The time of the thread that asks.
  static let currentThread = ProcessorClock(id: CLOCK_THREAD_CPUTIME_ID)

  private init(id: clockid_t) {
    self.id = id
  }

  /// The clock of the calling thread, which other threads may read as long as it lives.
  /// - Returns: nil when the system has none.
  static func ofCallingThread() -> ProcessorClock? {
    var id = clockid_t()
    guard pthread_getcpuclockid(pthread_self(), &id) == 0 else { return nil }
    return ProcessorClock(id: id)
  }

  var seconds: Double {
    var time = timespec()
    clock_gettime(id, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}

/// Time on the wall, in nanoseconds from any beginning.
func monotonicNanoseconds() -> UInt64 {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  // Neither is ever negative.
  return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}
