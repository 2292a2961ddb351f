import Glibc
import Synchronization

/// Bounds what thumbnails take on the disk. They count against no user's quota, and a small file can have large ones.
///
/// It keeps only a count, which may be too high, because thumbnails also go with their content, but never too low. When it
/// passes the limit, the files are listed, the oldest are removed, and the count is right again.
final class ThumbnailCache: Sendable {
  /// What a small file takes on the disk, an empty one nearly. It also bounds how many files there are.
  static let blockBytes = 4096
  /// How much is left when files were removed, in percent, so that the files are listed once for many thumbnails.
  private static let trimmedPercent = 90

  private struct State {
    var bytes = 0
    var isTrimming = false
  }

  /// One file, without its name: there may be many.
  private struct Entry {
    /// In nanoseconds since 1970.
    let time: Int
    let bytes: Int
  }

  private let folder: MediaFolder
  private let limit: Int
  private let state = Mutex(State())

  /// - Parameter limit: in bytes.
  init(in folder: MediaFolder, limit: Int) {
    self.folder = folder
    self.limit = limit
  }

  /// At least what the files take, in bytes, once they were listed.
  var bytes: Int { state.withLock { $0.bytes } }

  /// Counts a file that was put there, and makes room if there are too many now. May block on the disk.
  func add(_ bytes: Int) {
    let isOver = state.withLock { state in
      state.bytes += Self.charge(bytes)
      return state.bytes > limit
    }
    if isOver { trim() }
  }

  /// Counts what is there, and removes the oldest files if it is too much. Does nothing while another thread does it.
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
      // What was added meanwhile is counted again, for it may not have been listed. A folder that cannot be listed keeps
      // its count, and the next thumbnail tries again.
      if let left { state.bytes += left - known }
    }
  }

  /// - Returns: how many bytes are left.
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

  /// - Returns: nil when the folder cannot be read.
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
    for shelf in try MediaFolder.entries(of: folder.thumbnails) where shelf.utf8.count == 2 {
      let directory = folder.thumbnails + "/" + shelf
      for name in try MediaFolder.entries(of: directory) {
        let path = directory + "/" + name
        var status = stat()
        // One that is gone was removed with its content.
        guard stat(path, &status) == 0 else { continue }
        let time = status.st_mtim.tv_sec * 1_000_000_000 + status.st_mtim.tv_nsec
        body(path, Entry(time: time, bytes: Self.charge(Int(status.st_size))))
      }
    }
  }

  /// What a file of so many bytes takes.
  static func charge(_ bytes: Int) -> Int {
    max(1, (bytes + blockBytes - 1) / blockBytes) * blockBytes
  }
}
