import ChatPrimitives
import EventLog

extension CrashSimulation {
  /// Checks the invariant: acknowledged ⊆ recovered ⊆ submitted, and a block is present as a whole or not at all.
  func checkRecovered(_ log: EmbeddedLog, before: SimulatedDisk) throws(SimulationFailure) {
    let head = log.head.value
    guard head >= model.acknowledged else {
      throw failure("acknowledged up to \(model.acknowledged), recovered up to \(head)")
    }
    guard head <= model.submittedHead else {
      throw failure("submitted up to \(model.submittedHead), recovered up to \(head)")
    }
    guard head == model.acknowledged || head == model.submittedHead else {
      throw failure("recovered up to \(head), within the block \(model.acknowledged + 1) to \(model.submittedHead)")
    }
    // After a lost sync, the superblock that a reopened log read may not be on the disk.
    if outcome.lostSyncs + disk.faults.lostSyncs == 0, log.recovery.superblockHead.value < model.noted {
      throw failure("the superblock went back from \(model.noted) to \(log.recovery.superblockHead)")
    }
    if head > model.acknowledged { outcome.unacknowledgedKept += 1 }
    guard log.lastTime == LogModel.time(head) else { throw failure("the last recorded time is another") }
    if let torn = log.recovery.tornTail { try checkTorn(torn, head: head, before: before) }
    model.reopen(at: head)
    model.note()
    // A disk that misdirects writes may have written anything there.
    if mayReopen { try checkBehind(log) }
    guard head > 0 else { return }
    for position in [head, 1 + UInt64(random.below(Int(head)))] {
      let done = try attempt("read after opening") { () throws(LogError) in
        seen.append(try log.block(containing: LogPosition(position)))
      }
      if done { try checkSeen(LogPosition(position)) } else { outcome.failedReads += 1 }
    }
  }

  /// Checks that a torn tail is on the disk under its new name, bit by bit.
  private func checkTorn(
    _ torn: RecoveryReport.TornTail, head: UInt64, before: SimulatedDisk
  ) throws(SimulationFailure) {
    outcome.tornTails += 1
    let segment = Self.logDirectory + "/" + torn.segment
    guard torn.position.value == head + 1, let start = Int(exactly: torn.offset), torn.bytes > 0 else {
      throw failure("the torn tail is said to begin at position \(torn.position)")
    }
    guard let old = before.bytes(segment), start + torn.bytes <= old.count,
      let saved = disk.durableBytes(Self.logDirectory + "/" + torn.savedAs),
      saved[...] == old[start..<start + torn.bytes]
    else { throw failure("the torn tail is not saved in \(torn.savedAs)") }
  }

  /// Checks that the disk holds only zeros after the last block.
  private func checkBehind(_ log: EmbeddedLog) throws(SimulationFailure) {
    guard let tail = disk.paths(in: Self.logDirectory).last(where: { $0.hasSuffix(".seg") }) else {
      throw failure("an open log has no segment")
    }
    var end: UInt64 = 4096
    if log.head > .origin {
      let done = try attempt("read the last block") { () throws(LogError) in
        seen.append(try log.block(containing: log.head))
      }
      guard done, let block = seen.last else { return }
      if tail.hasSuffix(block.segment) { end = block.offset + UInt64(block.storedBytes) }
    }
    guard let start = Int(exactly: end), disk.isZeroOnDisk(tail, from: start) else {
      throw failure("something stands behind the last block of \(tail)")
    }
  }

  /// Checks a power cut during opening: bytes that were on the disk before and are zero now must have been saved.
  func checkSavedBeforeCut(_ before: SimulatedDisk) throws(SimulationFailure) {
    guard let tail = before.paths(in: Self.logDirectory).last(where: { $0.hasSuffix(".seg") }),
      let old = before.durableBytes(tail), let new = disk.durableBytes(tail)
    else { return }
    // A longer segment may have replaced an empty one under the same name. Then only the header changes.
    let end = min(old.count, new.count)
    let cleared = (min(LogFormat.segmentHeaderBytes, end)..<end).filter { old[$0] != 0 && new[$0] == 0 }
    guard let first = cleared.first, let last = cleared.last else { return }
    // Sectors in between may be zero already, from an earlier cut whose sync was lost.
    let lost = cleared.map { (index: $0 - first, byte: old[$0]) }
    let length = last - first + 1
    for name in disk.paths(in: Self.logDirectory) where name.contains("/torn-") {
      let saved = disk.durableBytes(name) ?? []
      let starts = 0..<max(0, saved.count - length + 1)
      if starts.contains(where: { start in lost.allSatisfy { saved[start + $0.index] == $0.byte } }) { return }
    }
    throw failure("bytes of \(tail) were overwritten before they were saved")
  }

  /// Checks that the block that was read last holds a position, and that its records are those that were submitted.
  func checkSeen(_ position: LogPosition) throws(SimulationFailure) {
    guard let block = seen.last, block.first <= position, position <= block.last else {
      throw failure("the block read does not hold position \(position)")
    }
    if let flaw = model.flaw(in: block) { throw failure(flaw) }
  }

  /// Reads every record of a source, in order and without gaps.
  /// - Returns: the number of blocks that the source could not read.
  func readAll(_ source: any BlockSource) throws(SimulationFailure) -> Int {
    var position = LogPosition.first
    var refusals = 0
    while position <= source.head {
      var block: Block?
      let done = try attempt("read all") { () throws(LogError) in block = try source.block(containing: position) }
      guard done, let block else {
        refusals += 1
        position = position.next
        continue
      }
      guard block.first == position || refusals > 0 else {
        throw failure("the block at \(position) begins with \(block.first)")
      }
      if let flaw = model.flaw(in: block) { throw failure(flaw) }
      position = block.last.next
    }
    return refusals
  }

  /// Checks that a reader of the files that a crash left shows only durable records and changes nothing.
  func readWithoutServer() throws(SimulationFailure) {
    let changes = disk.changes
    var reader: LogReader?
    do throws(LogError) {
      reader = try LogReader.open(directory: Self.directory, disk: disk)
    } catch {
      guard error.code == .missing, model.acknowledged == 0 else { throw failure("reader: \(error)") }
    }
    let shown = reader?.head.value ?? 0
    if shown > model.acknowledged {
      // An opening that was interrupted may have made the last block durable and recorded that. From then on it counts.
      guard shown == model.submittedHead else { throw failure("a reader shows \(shown) of \(model.submittedHead)") }
      model.acknowledge()
    }
    if let reader, try readAll(reader) > 0 { throw failure("a reader refuses what a crash left") }
    guard disk.changes == changes else { throw failure("a reader wrote to the disk") }
  }

  /// After a clean close, checks that everything is present and that `verify` finds no fault.
  func verifyAll() throws(SimulationFailure) {
    var report: LogVerifier.Report?
    _ = try attempt("verify") { () throws(LogError) in
      report = try LogVerifier(directory: Self.directory, disk: disk).run()
    }
    guard report?.head.value == model.acknowledged, report?.records == model.acknowledged else {
      throw failure("verify counts \(report?.records ?? 0) records of \(model.acknowledged)")
    }
    var reader: LogReader?
    _ = try attempt("read the closed log") { () throws(LogError) in
      reader = try LogReader.open(directory: Self.directory, disk: disk)
    }
    guard let reader, reader.head.value == model.acknowledged else {
      throw failure("after a clean close a reader shows \(reader?.head ?? .origin) of \(model.acknowledged)")
    }
    guard try readAll(reader) == 0 else { throw failure("a sound log is refused") }
  }
}
