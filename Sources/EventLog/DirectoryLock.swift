/// Prevents a second process from writing to a data directory: an exclusive lock on the file `lock` in it. The system
/// holds the lock for as long as the process has the file open, so a killed process leaves no lock behind.
package final class DirectoryLock: Sendable {
  package static let fileName = "lock"

  private let file: any DiskFile

  /// - Throws: `log_locked` if another process, or another `DirectoryLock` in this process, holds the lock.
  package init(directory: String, disk: any Disk = PosixDisk()) throws(LogError) {
    let path = directory + "/" + Self.fileName
    let isFree: Bool
    do {
      try uninterrupted { () throws(DiskError) in try disk.createDirectory(directory) }
      let opened = try uninterrupted { () throws(DiskError) in try disk.open(path, .readWriteOrCreate) }
      isFree = try uninterrupted { () throws(DiskError) in try opened.tryLock() }
      file = opened
    } catch {
      throw LogError(error)
    }
    guard isFree else {
      throw LogError(
        .locked, "Another process uses the data directory; stop that server first, or name another directory.",
        location: .init(file: path))
    }
  }
}
