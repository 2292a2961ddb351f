import ChatPrimitives
private import Dispatch
import Synchronization

/// Creates segment files: fills a file with zeros under a temporary name, writes the header, syncs the file, and only
/// then gives it its final name. Filling takes long, so a separate thread can do it ahead of time.
final class SegmentMaker: Sendable {
  private static let preparedName = "next" + LogFolder.temporarySuffix
  private static let immediateName = "immediate" + LogFolder.temporarySuffix
  /// Zeros are synced in steps of this size, so that the writer's own sync never waits for a whole segment.
  private static let syncStepBytes: UInt64 = 4 * 1024 * 1024

  private enum Preparation {
    case none
    case underWay
    case done(LogFile)
    /// The writer then creates the file itself, and reports the failure if it persists.
    case failed
  }

  private let folder: LogFolder
  private let segmentBytes: UInt64
  private let counts: ReadCounts
  private let queue = DispatchQueue(label: "hansard.log.prepare")
  private let preparation = Mutex(Preparation.none)

  init(folder: LogFolder, segmentBytes: Int, counts: ReadCounts) {
    self.folder = folder
    self.segmentBytes = UInt64(segmentBytes)
    self.counts = counts
  }

  /// Starts to fill the next file, unless that was already started.
  func prepareAhead() {
    let mustStart = preparation.withLock { state in
      guard case .none = state else { return false }
      state = .underWay
      return true
    }
    guard mustStart else { return }
    queue.async { [self] in
      let made: Preparation
      do {
        made = .done(try fill(Self.preparedName, length: segmentBytes, in: folder))
      } catch {
        made = .failed
      }
      preparation.withLock { $0 = made }
    }
  }

  /// Waits while a file is being filled.
  func waitUntilPrepared() {
    queue.sync {}
  }

  /// Creates the segment that `header` describes. The file is durable under its final name when the call returns. A
  /// failure poisons the log, so the call waits while no file descriptor is free.
  func make(_ header: SegmentHeader) throws(LogError) -> LogFile {
    let folder = folder.waitingForDescriptors
    let file: LogFile
    if let prepared = takePrepared(length: header.segmentBytes) {
      file = prepared
    } else {
      file = try fill(Self.immediateName, length: header.segmentBytes, in: folder)
    }
    let name = SegmentName.of(header.first)
    try file.write(header.encoded().bytes, at: 0)
    try file.sync()
    try folder.rename(file.name, to: name)
    return LogFile(file: file.file, name: name, path: folder.path(of: name), counts: counts)
  }

  /// Waits for a file that is being filled, and removes it.
  func discardPrepared() {
    if let file = takePrepared(length: segmentBytes) {
      // If this fails, the next opening of the log removes the file.
      try? folder.remove(file.name)
    }
  }

  private func takePrepared(length: UInt64) -> LogFile? {
    guard length == segmentBytes else { return nil }
    waitUntilPrepared()
    return preparation.withLock { state in
      defer { state = .none }
      switch state {
      case .done(let file): return file
      case .none, .underWay, .failed: return nil
      }
    }
  }

  private func fill(_ name: String, length: UInt64, in folder: LogFolder) throws(LogError) -> LogFile {
    let file = try folder.openTemporary(name, counts: counts)
    do {
      var offset: UInt64 = 0
      while offset < length {
        let end = min(length, offset + Self.syncStepBytes)
        try file.writeZeros(offset..<end)
        try file.sync()
        offset = end
      }
      return file
    } catch {
      // A half-filled file would take up space on a full disk. If it cannot be removed now, the next opening removes
      // it.
      try? folder.remove(name)
      throw error
    }
  }
}
