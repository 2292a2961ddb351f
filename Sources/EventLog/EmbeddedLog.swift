package import ChatPrimitives
import Synchronization

/// The event log of one server, on a local file system. See `docs/log-format.md`.
///
/// One thread appends, any thread reads. Calls block for as long as the disk takes, so do not make them on the
/// cooperative thread pool. No lock is held during a read, a write or a sync.
package final class EmbeddedLog: BlockStore {
  package let identity: LogIdentity
  /// What opening the log found and did.
  package let recovery: RecoveryReport

  private let options: LogOptions
  private let folder: LogFolder
  private let catalog: SegmentCatalog
  private let maker: SegmentMaker
  private let counts: ReadCounts
  private let sealing: LogSealing
  private let sealer: BackgroundSealer
  private let erasing: LogErasing
  private let durable: Atomic<UInt64>
  private let lastRecorded: Atomic<Int64>
  /// Nil while a call uses it.
  private let writer: Mutex<TailWriter?>
  private let failure = Mutex<LogError?>(nil)
  private let lock: Mutex<DirectoryLock?>

  private init(
    _ opened: LogOpening.Opened, options: LogOptions, folder: LogFolder, maker: SegmentMaker, counts: ReadCounts,
    lock: DirectoryLock
  ) {
    identity = opened.superblock.identity
    recovery = opened.recovery
    self.options = options
    self.folder = folder
    self.maker = maker
    self.counts = counts
    catalog = SegmentCatalog(opened.segments)
    sealing = LogSealing(
      folder: folder, identity: identity, catalog: catalog, counts: counts, random: options.random,
      key: opened.key)
    sealer = BackgroundSealer(sealing, onSealed: options.onSealed, onFailure: options.onSealingFailure)
    erasing = LogErasing(
      folder: folder, identity: identity, catalog: catalog, counts: counts, random: options.random)
    durable = Atomic(opened.tail.head.value)
    lastRecorded = Atomic(opened.tail.lastTime.milliseconds)
    writer = Mutex(opened.tail)
    self.lock = Mutex(lock)
  }

  /// Opens the log in a data directory for writing, or creates it. Reads only the superblock and the last segment.
  /// - Parameters:
  ///   - directory: the data directory; the log is in its subdirectory `log/`.
  ///   - lock: the directory's lock if the caller holds it already; otherwise `open` takes it.
  /// - Throws: `log_locked`, `log_corrupt`, `log_wrong_version`, `log_io`, `log_full_disk`, or `log_too_large` for an
  ///   option out of bounds.
  package static func open(
    directory: String, disk: any Disk = PosixDisk(), options: LogOptions = .init(), lock: DirectoryLock? = nil
  ) throws(LogError) -> EmbeddedLog {
    try options.check()
    let held: DirectoryLock
    if let lock { held = lock } else { held = try DirectoryLock(directory: directory, disk: disk) }
    let folder = LogFolder(data: directory, disk: disk)
    let counts = ReadCounts()
    let maker = SegmentMaker(folder: folder, segmentBytes: options.segmentBytes, counts: counts)
    let opened = try LogOpening(folder: folder, options: options, counts: counts, maker: maker).run()
    let log = EmbeddedLog(
      opened, options: options, folder: folder, maker: maker, counts: counts, lock: held)
    try log.noteIdle()
    if options.sealsInBackground, opened.segments.count > 1 { log.sealer.wake(holding: held) }
    return log
  }

  package var head: LogPosition { LogPosition(durable.load(ordering: .acquiring)) }

  /// The recorded time of the last durable record; `Timestamp.earliest` in an empty log. No new record may be earlier.
  package var lastTime: Timestamp { Timestamp(milliseconds: lastRecorded.load(ordering: .acquiring)) }

  /// The first failure. After it, the log accepts no more blocks.
  package var poison: LogError? { failure.withLock { $0 } }

  /// The number of blocks whose bodies were read and checked, including during opening.
  package var blocksRead: Int { counts.blocks.load(ordering: .relaxed) }

  /// The number of bytes read from the log's files, including during opening.
  package var bytesRead: Int { counts.bytes.load(ordering: .relaxed) }

  package func block(containing position: LogPosition) throws(LogError) -> Block {
    try catalog.block(containing: position, head: head)
  }

  package func candidateBlocks(of stream: UUIDBytes, from position: LogPosition) throws(LogError) -> CandidateBlocks {
    try catalog.candidateBlocks(of: stream, from: position, head: head)
  }

  package func start(notBefore time: Timestamp) throws(LogError) -> LogPosition {
    try catalog.start(notBefore: time, head: head)
  }

  // MARK: Writing

  package func append(_ block: BlockBuilder) throws(LogError) {
    try withWriter { (writer) throws(LogError) in
      try checkUsable(writer)
      try writer.check(block)
      let header = writer.encode(block)
      do throws(LogError) {
        if !writer.fits(header) { try roll(&writer, frameBytes: header.frameBytes) }
        try writer.write(header, lastTime: block.lastTime ?? writer.lastTime)
      } catch {
        throw poisoned(by: error)
      }
      lastRecorded.store(writer.lastTime.milliseconds, ordering: .releasing)
      durable.store(writer.head.value, ordering: .releasing)
      options.onSync(writer.lastSync)
      if options.preparesAhead, writer.offset > writer.header.segmentBytes / 2 { maker.prepareAhead() }
    }
  }

  /// Begins a new segment after the last, so that everything in the log can be sealed. Does nothing if the last segment
  /// is empty.
  package func roll() throws(LogError) {
    try withWriter { (writer) throws(LogError) in
      try checkUsable(writer)
      guard !writer.isEmpty else { return }
      do throws(LogError) { try roll(&writer, frameBytes: 0) } catch { throw poisoned(by: error) }
    }
  }

  /// Seals the first segment that is full and not sealed yet: rewrites it densely, with an index, and stores the tree
  /// head at its end. This takes seconds; appending and reading continue meanwhile. A failure does not poison the log
  /// and leaves the segment unchanged. If the last step fails, which makes the swap durable, nothing more is sealed
  /// until the log is opened again.
  /// - Returns: false if there is no such segment, or if the log is being closed.
  /// - Throws: the errors of `append`; `log_corrupt` for a segment that cannot be read; `log_busy` while another
  ///   segment is being sealed; `log_missing` if the key that signs tree heads is lost.
  package func sealNext() throws(LogError) -> Bool {
    try checkHealthy()
    return try sealing.sealNext()
  }

  /// The number of segments that are full and not sealed.
  /// - Throws: the errors of `sealNext`.
  package func segmentsToSeal() throws(LogError) -> Int {
    max(catalog.all.count - 1, 0) - (try catalog.sealedCount())
  }

  /// Fills the file of the next segment with zeros, so that `roll` need not. Takes as long as the disk needs for that.
  package func prepareRoll() {
    maker.prepareAhead()
    maker.waitUntilPrepared()
  }

  /// The last position in a sealed segment; `LogPosition.origin` if no segment is sealed.
  /// - Throws: the errors of `sealNext`.
  package func sealedThrough() throws(LogError) -> LogPosition { try catalog.sealedThrough() }

  /// Removes payloads from sealed segments: rewrites each segment that has any, from the last to the first. Positions,
  /// envelopes, leaves and tree heads do not change. Appending, sealing and reading continue meanwhile. If a crash or
  /// `mustStop` interrupts a pass, the log is valid, and another pass does the rest. A failure does not poison the log.
  /// If the step fails that makes a swap durable, nothing more is erased until the log is opened again.
  /// - Parameters:
  ///   - rests: how many times as long as it worked the pass rests after each segment, so that it slows nothing down.
  ///   - mustStop: called often. If it returns true, the pass ends before it replaces another segment.
  ///   - progress: called after each segment, with the numbers of segments that are done and in total.
  /// - Returns: nil if the pass was stopped.
  /// - Throws: `log_busy` if records of the users are not in sealed segments yet, or while another pass runs;
  ///   `log_corrupt` for a segment that cannot be read; `log_io`, `log_full_disk`.
  package func erase(
    _ plan: ErasurePlan, resting rests: Int = 0, mustStop: @escaping () -> Bool = { false },
    progress: @escaping (_ done: UInt64, _ total: UInt64) -> Void = { _, _ in }
  ) throws(LogError) -> ErasureReport? {
    try checkHealthy()
    return try erasing.run(plan, resting: rests, mustStop: mustStop, progress: progress)
  }

  /// Makes a pass of `erase` stop soon, even if it rests, and prevents new ones until the log is opened again.
  package func stopErasing() {
    erasing.requestStop()
  }

  package func noteIdle() throws(LogError) {
    try withWriter { (writer) throws(LogError) in
      try checkUsable(writer)
      try writeSuperblock(&writer)
    }
  }

  package func close() throws(LogError) {
    try withWriter { (writer) throws(LogError) in
      guard !writer.isClosed else { return }
      writer.isClosed = true
      defer { lock.withLock { $0 = nil } }
      sealing.requestStop()
      sealer.stop()
      sealing.stopAndWait()
      erasing.stopAndWait()
      maker.discardPrepared()
      if poison == nil { try writeSuperblock(&writer) }
    }
  }

  private func writeSuperblock(_ writer: inout TailWriter) throws(LogError) {
    do { try writer.writeSuperblock() } catch { throw poisoned(by: error) }
  }

  /// Continues in a new segment, which is durable before a block is written to it.
  private func roll(_ writer: inout TailWriter, frameBytes: Int) throws(LogError) {
    let header = writer.successorHeader(frameBytes: frameBytes, options: options)
    let checksum = header.encoded().checksum
    let file = try maker.make(header)
    let segment = Segment(
      first: header.first, in: folder, identity: identity, counts: counts, held: file,
      index: BlockIndex(header, checksum: checksum))
    writer.move(to: file, segment, header, checksum: checksum)
    catalog.add(segment)
    if options.sealsInBackground, let held = lock.withLock({ $0 }) { sealer.wake(holding: held) }
  }

  /// Gives one call exclusive use of the writer's state. No lock is held while the call runs.
  private func withWriter(_ body: (inout TailWriter) throws(LogError) -> Void) throws(LogError) {
    guard var taken = writer.withLock({ $0.take() }) else {
      throw LogError(.busy, "Two threads write to the log at once; it has one writer.")
    }
    defer { writer.withLock { $0 = taken } }
    try body(&taken)
  }

  private func checkUsable(_ writer: TailWriter) throws(LogError) {
    try checkHealthy()
    if writer.isClosed { throw LogError(.closed, "The log was closed.") }
  }

  private func checkHealthy() throws(LogError) {
    if let poison {
      throw LogError(
        .poisoned, "The event log failed and accepts no more events; fix the cause, then restart the server.",
        cause: poison.description, location: poison.location)
    }
  }

  /// Records the first failure. Nothing is retried: after a failed sync, a second sync reports success for pages that
  /// the system has already discarded.
  private func poisoned(by error: LogError) -> LogError {
    failure.withLock { $0 = $0 ?? error }
    sealing.requestStop()
    erasing.requestStop()
    return error
  }
}
