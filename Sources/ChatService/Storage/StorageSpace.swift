import Glibc
package import Logging
import Synchronization

/// Measures the space on the file systems of the server's data, and reports each change in the server's log.
///
/// It changes nothing else: whether a write succeeds is known only from the write.
package final class StorageSpace: Sendable {
  /// Less than this is `full`: the log prepares whole segments of this size, and fails if it cannot.
  package static let fullBytes: UInt64 = 64 * 1024 * 1024
  package static let defaultLowBytes: UInt64 = 1024 * 1024 * 1024

  private let directories: [(part: StorageStatus.Part, path: String)]
  private let lowBytes: UInt64
  private let logger: Logger
  private let state = Mutex(StorageStatus(spaces: []))

  /// Measures for the first time. Blocks on the disk.
  /// - Parameter directory: where each part of the data is. Directories may be missing, or on the same file system.
  package init(lowBytes: UInt64, logger: Logger, directory: (StorageStatus.Part) -> String) {
    directories = StorageStatus.Part.allCases.map { ($0, directory($0)) }
    self.lowBytes = lowBytes
    self.logger = logger
    measure()
  }

  package var status: StorageStatus { state.withLock { $0 } }

  /// Blocks on the disk. Keeps the last status if nothing can be measured.
  package func measure() {
    let spaces = directories.compactMap { part, path in
      Self.space(of: path).map {
        StorageStatus.Space(part: part, directory: path, level: level(of: $0), freeBytes: $0.bytes)
      }
    }
    guard !spaces.isEmpty else { return }
    let now = StorageStatus(spaces: spaces)
    let before = state.withLock { state in
      defer { state = now }
      return state
    }
    report(now, after: before)
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

  /// Reports another level, and other parts on full file systems.
  private func report(_ status: StorageStatus, after before: StorageStatus) {
    guard let least = status.least, status.level != before.level || status.parts(.full) != before.parts(.full) else {
      return
    }
    let metadata: Logger.Metadata = [
      "directory": "\(least.directory)", "freeMebibytes": "\(least.freeBytes / 1024 / 1024)",
    ]
    switch status.level {
    case .ok: logger.notice("there is enough disk space again", metadata: metadata)
    case .low where before.level == .full:
      logger.warning("the disk is no longer full, but space is low: free more", metadata: metadata)
    case .low:
      let contents = status.parts(.low).map(\.contents).joined(separator: ", ")
      logger.warning(
        "disk space is low: free some space. With less than 64 MiB, writes of \(contents) can fail", metadata: metadata)
    case .full:
      logger.critical("the disk is full: free some space now. \(status.failures)", metadata: metadata)
    }
  }
}
