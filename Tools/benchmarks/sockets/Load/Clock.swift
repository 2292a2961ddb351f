import Glibc

/// The time in nanoseconds, from an arbitrary start.
func now() -> Int { nanoseconds(CLOCK_MONOTONIC) }

/// The processor time that this process has used, in nanoseconds.
func processorTime() -> Int { nanoseconds(CLOCK_PROCESS_CPUTIME_ID) }

private func nanoseconds(_ clock: clockid_t) -> Int {
  var time = timespec()
  clock_gettime(clock, &time)
  return time.tv_sec * 1_000_000_000 + time.tv_nsec
}
