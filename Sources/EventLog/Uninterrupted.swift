/// Repeats a call to the disk until no signal interrupts it (`EINTR`). An interrupted call has done nothing, so it is
/// the only failure that is retried here. Every other failure is thrown at once.
func uninterrupted<Value>(_ call: () throws(DiskError) -> Value) throws(DiskError) -> Value {
  while true {
    do throws(DiskError) {
      return try call()
    } catch {
      if !error.isInterrupted { throw error }
    }
  }
}
