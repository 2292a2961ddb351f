import ChatPrimitives
private import Dispatch
import Synchronization

/// Decides which segment of a log is sealed next, supplies the state of the tree, and stores the tree head afterwards.
/// Segments are sealed in order, so that the sealed ones come before all others.
final class LogSealing: Sendable {
  private let folder: LogFolder
  private let identity: LogIdentity
  private let catalog: SegmentCatalog
  private let counts: ReadCounts
  private let random: @Sendable () -> UInt64
  private let key: CheckpointKey?
  private let isStopped = Atomic(false)
  private let isBusy = Mutex(false)
  /// Entered while a segment is being sealed.
  private let work = DispatchGroup()

  init(
    folder: LogFolder, identity: LogIdentity, catalog: SegmentCatalog, counts: ReadCounts,
    random: @escaping @Sendable () -> UInt64, key: CheckpointKey?
  ) {
    self.folder = folder
    self.identity = identity
    self.catalog = catalog
    self.counts = counts
    self.random = random
    self.key = key
  }

  /// Makes work in progress stop soon and prevents new work.
  func requestStop() {
    isStopped.store(true, ordering: .sequentiallyConsistent)
  }

  /// Requests the stop, and returns when the work in progress has ended.
  func stopAndWait() {
    requestStop()
    work.wait()
  }

  /// Seals the first segment that is full and not sealed, and stores its tree head.
  /// - Returns: false if there is no such segment, or if sealing was stopped.
  func sealNext() throws(LogError) -> Bool {
    guard
      isBusy.withLock({ busy in
        defer { busy = true }
        return !busy
      })
    else { throw LogError(.busy, "Another segment is being sealed; try again when it is done.") }
    work.enter()
    defer {
      isBusy.withLock { $0 = false }
      work.leave()
    }
    if isStopped.load(ordering: .sequentiallyConsistent) { return false }
    guard let key else {
      throw LogError(
        .missing, "The key that signs tree heads is missing, so no segment can be sealed; restore it from a backup.",
        location: .init(file: CheckpointKey.fileName))
    }
    let segments = catalog.all
    let number = try catalog.sealedCount()
    let start = try catalog.treeBefore(segment: number)
    // A crash between the swap and the tree head leaves a segment without a stored tree head, so it is stored now.
    if number > 0 { try storeHead(start, signedBy: key) }
    guard number < segments.count - 1 else { return false }
    let sealer = SegmentSealer(
      folder: folder, identity: identity, catalog: catalog, counts: counts, random: random,
      mustStop: { [self] in isStopped.load(ordering: .sequentiallyConsistent) })
    guard let sealed = try sealer.seal(segments[number], from: start, before: segments[number + 1]) else {
      return false
    }
    do {
      try folder.sync()
      try storeHead(sealed.end, signedBy: key)
    } catch {
      // It is unknown which of the two files a crash would leave, and a later sync would not show it. Therefore nothing
      // more is sealed until the log is opened again.
      requestStop()
      throw error
    }
    return true
  }

  /// Signs a tree head and stores it, unless the log already has one of its size.
  private func storeHead(_ tree: MerkleFrontier, signedBy key: CheckpointKey) throws(LogError) {
    let name = CheckpointName.of(size: tree.count)
    if (try folder.names() ?? []).contains(name) { return }
    let note: SignedNote
    do {
      note = try key.sign(size: tree.count, root: tree.root)
    } catch {
      throw LogError(.io, "The tree head was not signed.", cause: error.reason, location: .init(file: name))
    }
    let temporary = name + LogFolder.temporarySuffix
    let file = try folder.openTemporary(temporary, counts: counts)
    do {
      try file.write(note.encoded(), at: 0)
      try file.sync()
      try folder.rename(temporary, to: name)
    } catch {
      // If this fails, the file is removed before the next attempt, or when the log is opened.
      try? folder.remove(temporary)
      throw error
    }
  }
}

/// The name of a stored tree head: its size in 20 digits.
enum CheckpointName {
  static let suffix = ".checkpoint"

  static func of(size: UInt64) -> String { SegmentName.digits(of: LogPosition(size)) + suffix }

  /// - Returns: nil if the file is not a tree head.
  static func size(_ name: String) -> UInt64? {
    guard name.hasSuffix(suffix), let size = UInt64(name.dropLast(suffix.count)), of(size: size) == name else {
      return nil
    }
    return size
  }
}

extension SegmentCatalog {
  /// The number of sealed segments. They are at the beginning, and the last segment is never sealed.
  func sealedCount() throws(LogError) -> Int {
    let all = all
    var low = 0
    var high = max(all.count - 1, 0)
    while low < high {
      let middle = low + (high - low) / 2
      if try all[middle].isSealed() { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The tree over all records before a segment. The previous segment must be sealed.
  func treeBefore(segment number: Int) throws(LogError) -> MerkleFrontier {
    let all = all
    guard number > 0 else {
      guard all.first.map({ $0.first == .first }) ?? true else {
        throw LogError(
          FormatFlaw("the segments before it are missing"), at: .init(file: all[0].name, position: all[0].first))
      }
      return MerkleFrontier()
    }
    // The file is opened again, because after a swap whose sync failed only the file shows which form it has.
    let segment = try all[number - 1].opened(before: number < all.count ? all[number] : nil)
    if let tree = try segment.tree() {
      do { return try tree.end() } catch { throw LogError(error, at: .init(file: segment.file.name)) }
    }
    throw LogError(FormatFlaw("the segment before is not sealed"), at: .init(file: segment.file.name))
  }
}
