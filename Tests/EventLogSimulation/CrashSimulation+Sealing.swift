import EventLog

extension CrashSimulation {
  /// Seals some segments, sometimes after closing one early. A failure leaves the segment unchanged and the log usable,
  /// unless beginning a new segment failed.
  func seal() throws(SimulationFailure) -> Bool {
    guard let log else { return false }
    if random.isOne(in: 4) {
      let rolled = try attempt("roll") { () throws(LogError) in try log.roll() }
      guard rolled else { return try failed(log) }
    }
    for _ in 0..<random.within(1...3) {
      let done = try attempt("seal") { () throws(LogError) in
        if try log.sealNext() { outcome.sealedSegments += 1 }
      }
      if disk.isDown { return false }
      guard done else {
        outcome.failedSealings += 1
        guard log.poison == nil else { throw failure("a failed sealing poisoned the log") }
        return true
      }
    }
    return true
  }
}
