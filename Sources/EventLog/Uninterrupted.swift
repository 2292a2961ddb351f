/// Runs one call to the disk until no signal interrupts it (`EINTR`). Such a call has done nothing, so it is the one
/// failure that is tried again; everything else is handed on at the first time.
func uninterrupted<Value>(_ call: () throws(DiskError) -> Value) throws(DiskError) -> Value {
  while true {
    do throws(DiskError) {
      return try call()
    } catch {
      if !error.isInterrupted { throw error }
    }
  }
}
