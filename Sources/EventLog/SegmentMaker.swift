import ChatPrimitives
private import Dispatch
import Synchronization

/// Makes segment files: filled with zeros under a temporary name, given a header, synced, and only then named. The
/// filling, which takes long, can be done ahead by a thread of its own.
final class SegmentMaker: Sendable {
  private static let preparedName = "next" + LogFolder.temporarySuffix
  private static let immediateName = "immediate" + LogFolder.temporarySuffix
  /// Zeros are synced in steps of so many bytes, so that the writer's own sync never waits behind a whole segment.
  private static let syncStepBytes: UInt64 = 4 * 1024 * 1024

  private enum Preparation {
    case none
    case underWay
    case done(LogFile)
    /// The writer makes the file itself then, and meets the failure itself if it is still there.
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

  /// Begins to fill the next file, unless that was begun already.
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

  /// Makes the segment that `header` describes. When it returns, the file is durable under its name. Its failure poisons
  /// the log, so it waits while there is no free descriptor.
  func make(_ header: SegmentHeader) throws(LogError) -> LogFile {
    let folder = folder.patient
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

  /// Waits for a file that is being filled and removes it.
  func discardPrepared() {
    if let file = takePrepared(length: segmentBytes) {
      // What is left behind is removed when the log is opened.
      try? folder.remove(file.name)
    }
  }

  private func takePrepared(length: UInt64) -> LogFile? {
    guard length == segmentBytes else { return nil }
    queue.sync {}
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
      // A half-filled file on a full disk helps nobody; if it cannot be removed now, opening removes it.
      try? folder.remove(name)
      throw error
    }
  }
}
