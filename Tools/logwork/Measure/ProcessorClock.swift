import Glibc

/// Measures used processor time, in seconds, of the whole process or of one thread.
struct ProcessorClock: Sendable {
  private let id: clockid_t

  /// The time of all threads, including those that have ended.
  static let process = ProcessorClock(id: CLOCK_PROCESS_CPUTIME_ID)
  /// The time of the thread that reads the clock.
  static let currentThread = ProcessorClock(id: CLOCK_THREAD_CPUTIME_ID)

  private init(id: clockid_t) {
    self.id = id
  }

  /// The clock of the calling thread. Other threads can read it as long as this thread lives.
  /// - Returns: Nil if the system has no such clock.
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

/// Elapsed time in nanoseconds since an arbitrary point.
func monotonicNanoseconds() -> UInt64 {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  // Neither number is ever negative.
  return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}
