private import Glibc

/// How long the writer waits for a free file descriptor: as long as an idle connection can hold one.
private enum DescriptorRetry {
  static let attempts = 1_200
  static let stepMicroseconds: UInt32 = 50_000
}

/// Repeats a call to the disk until a file descriptor is free for it, for at most one minute. A call that gets no
/// descriptor has done nothing, so it is safe to repeat. Every other failure is thrown at once.
func withDescriptor<Value>(_ call: () throws(DiskError) -> Value) throws(DiskError) -> Value {
  for _ in 1..<DescriptorRetry.attempts {
    do throws(DiskError) {
      return try uninterrupted(call)
    } catch {
      if !error.isOutOfDescriptors { throw error }
    }
    usleep(DescriptorRetry.stepMicroseconds)
  }
  return try uninterrupted(call)
}
