private import Glibc

/// How long the writer waits for a free descriptor: as long as a connection on which nothing moves can hold one.
private enum DescriptorPatience {
  static let attempts = 1_200
  static let stepMicroseconds: UInt32 = 50_000
}

/// Runs one call to the disk until there is a free descriptor for it, for a minute at most. A call that finds none has
/// done nothing, so repeating it is safe; every other failure is handed on at the first time.
func withDescriptor<Value>(_ call: () throws(DiskError) -> Value) throws(DiskError) -> Value {
  for _ in 1..<DescriptorPatience.attempts {
    do throws(DiskError) {
      return try uninterrupted(call)
    } catch {
      if !error.isOutOfDescriptors { throw error }
    }
    usleep(DescriptorPatience.stepMicroseconds)
  }
  return try uninterrupted(call)
}
