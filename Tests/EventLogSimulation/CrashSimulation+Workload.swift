import ChatPrimitives
import EventLog

extension CrashSimulation {
  /// Performs one random step of the workload.
  /// - Returns: false if a fault made the log fail.
  func performStep() throws(SimulationFailure) -> Bool {
    switch random.below(24) {
    case 0..<13: return try append()
    case 13..<15: return try idle()
    case 15..<17: return try readBack()
    case 17: return try readConcurrently()
    case 18..<20: return try seal()
    case 20..<22: return try erase()
    default: return try reopen()
    }
  }

  /// Opens the log and compares it with the model.
  func open() throws(SimulationFailure) -> Bool {
    let before = disk.afterKill()
    // The log is released first, because the opening needs the directory lock.
    log = nil
    let isOpen = try attempt("open") { () throws(LogError) in
      log = try EmbeddedLog.open(directory: Self.directory, disk: disk, options: options)
    }
    guard isOpen, let log else {
      beforeOpening = before
      outcome.failedOpenings += 1
      if disk.isDown, life > 1 { outcome.cutsDuringRecovery += 1 }
      return false
    }
    outcome.reopenings += 1
    if mayBeDamaged { return true }
    try checkRecovered(log, before: before)
    return true
  }

  /// Appends a block of random size, sometimes one that is longer than a segment.
  func append() throws(SimulationFailure) -> Bool {
    guard let log else { return false }
    let isLarge = random.isOne(in: 12)
    let records = isLarge ? random.within(20...40) : random.isOne(in: 3) ? random.within(1...12) : random.within(1...3)
    let payloadBytes = isLarge ? random.within(100...600) : random.within(0...160)
    let isCompressible = random.isOne(in: 2)
    let done = try attempt("append") { () throws(LogError) in
      let block = try model.submit(records: records, payloadBytes: payloadBytes, isCompressible: isCompressible)
      try log.append(block)
    }
    guard done else { return try failed(log) }
    model.acknowledge()
    guard log.head.value == model.acknowledged else { throw failure("the head is \(log.head)") }
    outcome.appends += 1
    outcome.records += records
    return true
  }

  /// Performs what a server does when it is idle. All upkeep of the log belongs here.
  func idle() throws(SimulationFailure) -> Bool {
    guard let log else { return false }
    let done = try attempt("idle") { () throws(LogError) in
      try log.noteIdle()
    }
    guard done else { return try failed(log) }
    model.note()
    return true
  }

  /// Reads a few positions through the writer.
  func readBack() throws(SimulationFailure) -> Bool {
    guard let log else { return false }
    for _ in 0..<3 where log.head > .origin {
      let position = LogPosition(UInt64(random.below(Int(log.head.value))) + 1)
      let done = try attempt("read") { () throws(LogError) in
        seen.append(try log.block(containing: position))
      }
      if done { try checkSeen(position) } else { outcome.failedReads += 1 }
      if disk.isDown { return false }
      if !done, !mayBeDamaged, log.poison != nil { throw failure("a failed read poisoned the log") }
    }
    return true
  }

  /// Reads with a separate reader, which must never see anything that is not durable, and never less than before.
  func readConcurrently() throws(SimulationFailure) -> Bool {
    let before = reader?.head ?? .origin
    let done = try attempt("read concurrently") { () throws(LogError) in
      if let reader { try reader.refresh() } else { reader = try LogReader.open(directory: Self.directory, disk: disk) }
      guard let reader, reader.head > .origin else { return }
      seen.append(try reader.block(containing: reader.head))
    }
    guard done, let reader else {
      reader = nil
      outcome.failedReads += 1
      return !disk.isDown
    }
    guard reader.head.value <= model.acknowledged else { throw failure("a reader shows \(reader.head) too early") }
    guard reader.head >= before else { throw failure("a reader that showed \(before) shows \(reader.head)") }
    if reader.head > .origin { try checkSeen(reader.head) }
    return true
  }

  private func reopen() throws(SimulationFailure) -> Bool {
    guard let log, mayReopen else { return true }
    let done = try attempt("close") { () throws(LogError) in try log.close() }
    guard done else { return try failed(log) }
    model.note()
    return try open()
  }

  /// Checks the log after an error: nothing more is written, and acknowledged records can still be read.
  /// - Returns: false.
  func failed(_ log: EmbeddedLog) throws(SimulationFailure) -> Bool {
    if disk.isDown { return false }
    guard log.poison != nil else { throw failure("an error left the log unpoisoned") }
    outcome.poisonings += 1
    let changes = disk.changes
    // The block that failed may be on the disk, so the model keeps it. The next block must never get there.
    var refused = model
    do throws(LogError) {
      try log.append(try refused.submit(records: 1, payloadBytes: 10, isCompressible: true))
      throw LogError(.io, "a poisoned log took a block")
    } catch {
      guard error.code == .poisoned || error.code == .closed else { throw failure(error.description) }
    }
    do throws(LogError) { try log.noteIdle() } catch {
      guard error.code == .poisoned || error.code == .closed else { throw failure(error.description) }
    }
    do throws(LogError) { try log.close() } catch { throw failure(error.description) }
    guard disk.changes == changes else { throw failure("a poisoned log wrote to the disk") }
    guard log.head.value == model.acknowledged else { throw failure("a failure moved the head to \(log.head)") }
    disk.forgetPlans()
    _ = try readBack()
    return false
  }
}
