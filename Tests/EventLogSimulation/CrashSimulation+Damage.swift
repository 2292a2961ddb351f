import ChatPrimitives
import EventLog

extension CrashSimulation {
  /// Damages files that no process is writing: flips bits, or overwrites sectors with zeros or noise.
  func runDamageAtRest() throws(SimulationFailure) {
    guard try live() else { throw failure("a life without faults was cut short") }
    try collectBlocks()
    try endLife()
    mayBeDamaged = true
    for _ in 1...(random.isOne(in: 5) ? 2 : 1) { damageAtRest() }
    try checkDamaged()
  }

  /// Makes one write land in the wrong place.
  func runMisdirectedWrite() throws(SimulationFailure) {
    mayReopen = false
    disk.plan(.misdirects, at: random.within(1...30), of: .write)
    _ = try live()
    try endLife()
    mayBeDamaged = true
    try checkDamaged()
  }

  /// Replaces a block by one from another history of the same log, as after restoring a part of a backup: same offset,
  /// same salt, same position, all checksums correct.
  func runOtherHistory() throws(SimulationFailure) {
    guard try live(), try idle() else { throw failure("a life without faults was cut short") }
    let payloadBytes = random.within(30...200)
    let fork = disk.afterKill()
    var forkModel = model
    let own = try appendBlock(on: disk, log, &model, payloadBytes: payloadBytes)
    // This makes the fork's records differ, because the attempt number is part of them.
    _ = try? forkModel.submit(records: 1, payloadBytes: 1, isCompressible: true)
    let other = try appendBlock(on: fork, nil, &forkModel, payloadBytes: payloadBytes)
    guard try append() else { throw failure("a block was not taken") }
    try endLife()
    mayBeDamaged = true
    if own.segment == other.segment, own.offset == other.offset, own.storedBytes == other.storedBytes,
      let offset = Int(exactly: own.offset)
    {
      let path = Self.logDirectory + "/" + own.segment
      let foreign = fork.bytes(path)?[offset..<offset + own.storedBytes] ?? []
      disk.damage(path, at: offset, with: Array(foreign))
      outcome.otherHistories += 1
    }
    try checkDamaged()
  }

  /// Appends one block of incompressible payloads.
  /// - Returns: the block as it is stored.
  private func appendBlock(
    on disk: SimulatedDisk, _ open: EmbeddedLog?, _ model: inout LogModel, payloadBytes: Int
  ) throws(SimulationFailure) -> Block {
    do throws(LogError) {
      let log: EmbeddedLog
      if let open {
        log = open
      } else {
        log = try EmbeddedLog.open(directory: Self.directory, disk: disk, options: options)
      }
      try log.append(try model.submit(records: 1, payloadBytes: payloadBytes, isCompressible: false))
      model.acknowledge()
      return try log.block(containing: log.head)
    } catch {
      throw failure(error.description)
    }
  }

  // MARK: Damage

  /// Collects the locations of blocks, so that damage hits something.
  private func collectBlocks() throws(SimulationFailure) {
    guard let log, log.head > .origin else { return }
    for position in [log.head.value, 1 + UInt64(random.below(Int(log.head.value)))] {
      let done = try attempt("read before the damage") { () throws(LogError) in
        seen.append(try log.block(containing: LogPosition(position)))
      }
      guard done else { throw failure("a sound block is refused") }
    }
  }

  private func damageAtRest() {
    let paths = disk.paths(in: Self.logDirectory).filter { $0.hasSuffix(".seg") || $0.hasSuffix("superblock") }
    guard !paths.isEmpty else { return }
    var path = paths[random.below(paths.count)]
    var target = random.below(disk.bytes(path)?.count ?? 0)
    if path.hasSuffix("superblock") {
      target = random.below(2) * 4096 + random.below(512)
    } else if random.isOne(in: 10) {
      target = random.below(4096)
    } else if let block = seen.suffix(2).randomElement(using: &random), let offset = Int(exactly: block.offset) {
      path = Self.logDirectory + "/" + block.segment
      target = offset + random.below(random.isOne(in: 2) ? 64 : block.storedBytes)
    }
    guard let bytes = disk.bytes(path), target < bytes.count else { return }
    if random.below(10) < 7 {
      outcome.bitFlips += 1
      disk.damage(path, at: target, with: [bytes[target] ^ (1 << random.below(8))])
    } else {
      outcome.damagedSectors += 1
      let isNoise = random.isOne(in: 2)
      let sector = (0..<512).map { _ in isNoise ? UInt8(random.below(256)) : 0 }
      disk.damage(path, at: target / 512 * 512, with: sector)
    }
  }

  // MARK: What must hold on a damaged disk

  /// Checks that each record is unchanged or rejected, that nothing is cut which the disk still proves to be durable,
  /// and that a rejection changes nothing.
  private func checkDamaged() throws(SimulationFailure) {
    var refusals = 0
    let found = logFiles()
    let evidence = DurableEvidence.highest(in: found)
    var reader: LogReader?
    let isRead = try attempt("read damaged files") { () throws(LogError) in
      reader = try LogReader.open(directory: Self.directory, disk: disk)
    }
    if isRead, let reader {
      guard reader.head.value <= model.acknowledged else { throw failure("a reader shows \(reader.head)") }
      refusals += try readAll(reader)
    }
    guard try open(), let log else {
      outcome.refusedOnOpening += 1
      guard logFiles() == found else { throw failure("a log was refused and changed") }
      return
    }
    let head = log.head.value
    guard head <= model.submittedHead else { throw failure("recovered \(head), more than was submitted") }
    guard head >= min(evidence, model.acknowledged) else {
      throw failure("cut to \(head), though the disk knows \(evidence) to be durable")
    }
    if head < model.acknowledged { outcome.undecidable += 1 }
    refusals += try readAll(log)
    outcome.refusedOnReading += refusals > 0 ? 1 : 0
    try verifyDamaged(log, head: head, refusals: refusals)
  }

  /// Checks that a log that was opened accepts further blocks, and that `verify` finds the same damage as reading did.
  private func verifyDamaged(_ log: EmbeddedLog, head: UInt64, refusals: Int) throws(SimulationFailure) {
    model.reopen(at: head)
    guard try append() else { throw failure("an opened log takes no block") }
    let isClosed = try attempt("close") { () throws(LogError) in try log.close() }
    guard isClosed else { throw failure("the log does not close") }
    let isSound = try attempt("verify") { () throws(LogError) in
      _ = try LogVerifier(directory: Self.directory, disk: disk).run()
    }
    if isSound {
      guard refusals == 0 else { throw failure("verify passes what reading refuses") }
      outcome.harmless += 1
    } else {
      outcome.refusedByVerify += 1
    }
  }

  /// The superblock and the segments by name.
  private func logFiles() -> [String: [UInt8]] {
    var files: [String: [UInt8]] = [:]
    for path in disk.paths(in: Self.logDirectory) where path.hasSuffix(".seg") || path.hasSuffix("superblock") {
      files[String(path.dropFirst(Self.logDirectory.count + 1))] = disk.bytes(path)
    }
    return files
  }
}
