import Glibc
import Synchronization

/// Limits the disk space for thumbnails. They count against no user's quota, and a small file can have large
/// thumbnails.
///
/// It keeps only a count of bytes. The count may be too high, because thumbnails are also removed with their content,
/// but is never too low. When it exceeds the limit, the files are listed, the oldest are removed, and the count is
/// correct again.
final class ThumbnailCache: Sendable {
  /// The disk space that even an almost empty file takes, in bytes. It also limits the number of files.
  static let blockBytes = 4096
  /// How full the cache is after a removal, in percent of the limit, so that one listing suffices for many thumbnails.
  private static let trimmedPercent = 90

  private struct State {
    var bytes = 0
    var isTrimming = false
  }

  /// One file, without its name to save memory, because there may be many.
  private struct Entry {
    /// The time of the last modification, in nanoseconds since 1970.
    let time: Int
    let bytes: Int
  }

  private let folder: MediaFolder
  private let limit: Int
  private let state = Mutex(State())

  /// - Parameter limit: the maximum size, in bytes.
  init(in folder: MediaFolder, limit: Int) {
    self.folder = folder
    self.limit = limit
  }

  /// An upper bound of the size of the files, in bytes, once they were listed.
  var bytes: Int { state.withLock { $0.bytes } }

  /// Counts a file that was added, and removes old files if the limit is exceeded. May block on the disk.
  func add(_ bytes: Int) {
    let isOver = state.withLock { state in
      state.bytes += Self.charge(bytes)
      return state.bytes > limit
    }
    if isOver { trim() }
  }

  /// Counts the files, and removes the oldest if they exceed the limit. Does nothing while another thread does this.
  /// Blocks on the disk.
  func trim() {
    let known = state.withLock { state -> Int? in
      if state.isTrimming { return nil }
      state.isTrimming = true
      return state.bytes
    }
    guard let known else { return }
    let left = list().map { removeOldest(of: $0) }
    state.withLock { state in
      state.isTrimming = false
      // A file that was added meanwhile is counted again, because the listing may not include it. If the folder cannot
      // be listed, the count stays unchanged, and the next thumbnail tries again.
      if let left { state.bytes += left - known }
    }
  }

  /// - Returns: the number of bytes that are left.
  private func removeOldest(of entries: [Entry]) -> Int {
    var left = entries.reduce(0) { $0 + $1.bytes }
    guard left > limit else { return left }
    let goal = limit * Self.trimmedPercent / 100
    var newestToRemove = Int.min
    var planned = left
    for entry in entries.sorted(by: { $0.time < $1.time }) {
      if planned <= goal { break }
      planned -= entry.bytes
      newestToRemove = entry.time
    }
    _ = try? forEachFile { path, entry in
      guard entry.time <= newestToRemove, left > goal, unlink(path) == 0 else { return }
      left -= entry.bytes
    }
    return left
  }

  /// - Returns: nil if the folder cannot be read.
  private func list() -> [Entry]? {
    var entries: [Entry] = []
    do {
      try forEachFile { _, entry in entries.append(entry) }
      return entries
    } catch {
      return nil
    }
  }

  private func forEachFile(_ body: (String, Entry) -> Void) throws(MediaError) {
    for hashDirectory in try MediaFolder.entries(of: folder.thumbnails) where hashDirectory.utf8.count == 2 {
      let directory = folder.thumbnails + "/" + hashDirectory
      for name in try MediaFolder.entries(of: directory) {
        let path = directory + "/" + name
        var status = stat()
        // A missing file was removed with its content.
        guard stat(path, &status) == 0 else { continue }
        let time = status.st_mtim.tv_sec * 1_000_000_000 + status.st_mtim.tv_nsec
        body(path, Entry(time: time, bytes: Self.charge(Int(status.st_size))))
      }
    }
  }

  /// The disk space that a file of this size takes, in bytes.
  static func charge(_ bytes: Int) -> Int {
    max(1, (bytes + blockBytes - 1) / blockBytes) * blockBytes
  }
}
