import Glibc
package import Logging
import Synchronization

/// The space on the file systems of the server's data, for operators.
package struct StorageStatus: Sendable, Hashable {
  package enum Level: String, Sendable {
    case ok
    /// Less than the operator wants.
    case low
    /// Not enough for the next segment of the log, or for another file.
    case full
  }

  package var level: Level
  /// The directory on the file system with the least space.
  package var directory: String
  /// The bytes that the server can still write there.
  package var freeBytes: UInt64
}

/// Measures the space on the file systems of the server's data, and reports each change in the server's log.
///
/// It changes nothing else: whether a write succeeds is known only from the write.
package final class StorageSpace: Sendable {
  /// Less than this is `full`: the log prepares whole segments of this size, and fails if it cannot.
  package static let fullBytes: UInt64 = 64 * 1024 * 1024
  package static let defaultLowBytes: UInt64 = 1024 * 1024 * 1024

  private let directories: [String]
  private let lowBytes: UInt64
  private let logger: Logger
  private let state: Mutex<StorageStatus>

  /// Measures for the first time. Blocks on the disk.
  /// - Parameter directories: the first one must exist; others may be missing, or on the same file system.
  package init(_ directories: [String], lowBytes: UInt64, logger: Logger) {
    self.directories = directories
    self.lowBytes = lowBytes
    self.logger = logger
    state = Mutex(StorageStatus(level: .ok, directory: directories.first ?? "", freeBytes: .max))
    measure()
  }

  package var status: StorageStatus { state.withLock { $0 } }

  /// Blocks on the disk. Keeps the last status if nothing can be measured.
  package func measure() {
    let measured = directories.compactMap { directory in
      Self.space(of: directory).map { StorageStatus(level: level(of: $0), directory: directory, freeBytes: $0.bytes) }
    }
    guard let least = measured.min(by: { $0.isWorse(than: $1) }) else { return }
    let before = state.withLock { state in
      defer { state = least }
      return state.level
    }
    if before != least.level { report(least, after: before) }
  }

  /// Separate from `measure`, so that tests need no full disk.
  static func level(bytes: UInt64, files: UInt64?, lowBytes: UInt64) -> StorageStatus.Level {
    if bytes < fullBytes || files == 0 { return .full }
    return bytes < lowBytes ? .low : .ok
  }

  private func level(of space: (bytes: UInt64, files: UInt64?)) -> StorageStatus.Level {
    Self.level(bytes: space.bytes, files: space.files, lowBytes: lowBytes)
  }

  /// The free bytes and files; nil if the directory is missing. A file system without a fixed number of files has nil
  /// files.
  private static func space(of directory: String) -> (bytes: UInt64, files: UInt64?)? {
    var system = statvfs()
    guard statvfs(directory, &system) == 0 else { return nil }
    let bytes = UInt64(system.f_bavail).multipliedReportingOverflow(by: UInt64(system.f_frsize))
    return (bytes.overflow ? .max : bytes.partialValue, system.f_files == 0 ? nil : UInt64(system.f_favail))
  }

  private func report(_ status: StorageStatus, after before: StorageStatus.Level) {
    let metadata: Logger.Metadata = [
      "directory": "\(status.directory)", "freeMebibytes": "\(status.freeBytes / 1024 / 1024)",
    ]
    switch status.level {
    case .ok: logger.notice("there is enough disk space again", metadata: metadata)
    case .low where before == .full:
      logger.warning("the disk is no longer full, but space is low: free more", metadata: metadata)
    case .low:
      logger.warning(
        "disk space is low: free some space. With less than 64 MiB, the event log can fail", metadata: metadata)
    case .full:
      logger.critical(
        """
        the disk is full: free some space now. When the next segment of the event log is due, or a write fails, the \
        server accepts no more writes until it is restarted
        """, metadata: metadata)
    }
  }
}

extension StorageStatus {
  fileprivate func isWorse(than other: StorageStatus) -> Bool {
    // A file system without free files is full, however many bytes it has.
    if (level == .full) != (other.level == .full) { return level == .full }
    return freeBytes < other.freeBytes
  }
}
