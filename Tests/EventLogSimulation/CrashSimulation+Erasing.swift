import ChatPrimitives
import EventLog

extension CrashSimulation {
  /// Erases one user from the sealed segments. A failure leaves the log usable, and another erasure does the rest.
  func erase() throws(SimulationFailure) -> Bool {
    guard let log else { return false }
    var last = LogPosition.origin
    let isKnown = try attempt("find sealed segments") { () throws(LogError) in last = try log.sealedThrough() }
    if disk.isDown { return false }
    guard isKnown, last > .origin else { return true }
    let user = LogModel.user(UInt64(random.below(LogModel.users)))
    model.beginErasing(user)
    var report: ErasureReport?
    let done = try attempt("erase") { () throws(LogError) in
      report = try log.erase(ErasurePlan(users: [user: last]) { _, _ in true })
    }
    if disk.isDown { return false }
    guard done else {
      outcome.failedErasures += 1
      guard log.poison == nil else { throw failure("a failed erasure poisoned the log") }
      return true
    }
    // Nil after an erasure whose sync failed, until the log is opened again.
    guard let report else { return true }
    outcome.rewrittenSegments += report.rewritten
    model.endErasing(user, through: last)
    return true
  }
}
