import Foundation
import Glibc

/// The media directory: `incoming/` for unfinished uploads, `thumbnails/` for files that can be made again, and a file
/// `ab/cdef…` for each content, named by its hash. Every function blocks on the disk.
package struct MediaFolder: Sendable, Hashable {
  /// Only the owner can read what users have sent each other.
  private static let directoryMode: mode_t = 0o700
  static let fileMode: mode_t = 0o600

  package let path: String

  package var incoming: String { path + "/incoming" }
  package var thumbnails: String { path + "/thumbnails" }

  /// Creates missing directories, and removes unfinished files that a crash left behind.
  package init(opening path: String) throws(MediaError) {
    self.path = path
    for directory in [path, incoming, thumbnails] { try Self.makeDirectory(directory) }
    try Self.sync(path)
    try Self.sync((path as NSString).deletingLastPathComponent)
    for name in try Self.entries(of: incoming) { try Self.remove(incoming + "/" + name) }
  }

  // MARK: - Paths

  package func file(_ hash: ContentHash) -> String { path + "/" + Self.relative(hash.hex) }

  /// - Parameter suffix: distinguishes the thumbnails of a content. Includes the file name's extension.
  func thumbnail(_ hash: ContentHash, _ suffix: String) -> String {
    thumbnails + "/" + Self.relative(hash.hex) + suffix
  }

  func freshIncoming() -> String { incoming + "/" + UUID().uuidString.lowercased() }

  private static func relative(_ hex: String) -> String { hex.prefix(2) + "/" + hex.dropFirst(2) }

  // MARK: - Contents

  package func holds(_ hash: ContentHash) -> Bool { access(file(hash), F_OK) == 0 }

  /// The names of the directories that hold contents: the first two digits of their hashes.
  func hashDirectories() throws(MediaError) -> [String] {
    try Self.entries(of: path).filter { name in name.utf8.count == 2 }.sorted()
  }

  /// The contents in one of the `hashDirectories` that were last put there before a time, in seconds since 1970.
  func contents(of directory: String, olderThan time: time_t) throws(MediaError) -> [ContentHash] {
    try Self.entries(of: path + "/" + directory).compactMap { name in
      guard let hash = ContentHash(hex: directory + name), isOlder(hash, than: time) else { return nil }
      return hash
    }
  }

  /// Whether a content was last put there before a time, in seconds since 1970. False if there is no such content.
  func isOlder(_ hash: ContentHash, than time: time_t) -> Bool {
    var status = stat()
    return stat(file(hash), &status) == 0 && status.st_mtim.tv_sec < time
  }

  /// Moves a complete and synced file to its final path, durably. It replaces an existing file of the same content,
  /// which then counts as new again.
  func place(_ source: String, as hash: ContentHash) throws(MediaError) {
    try Self.put(source, at: file(hash))
  }

  /// Moves a file into a directory, which is created if it is missing, and syncs the names that change.
  static func put(_ source: String, at destination: String) throws(MediaError) {
    let directory = (destination as NSString).deletingLastPathComponent
    if access(directory, F_OK) != 0 { try makeDirectory(directory) }
    // This is also needed if the directory exists: another upload may have created it a moment ago and not synced its
    // name yet. Syncing an unchanged directory writes nothing.
    try sync((directory as NSString).deletingLastPathComponent)
    guard rename(source, destination) == 0 else { throw failure("cannot be moved to its final path", destination) }
    try sync(directory)
  }

  // MARK: - Files

  static func remove(_ path: String) throws(MediaError) {
    guard unlink(path) == 0 || errno == ENOENT else { throw failure("cannot be removed", path) }
  }

  static func sync(_ path: String) throws(MediaError) {
    let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure("cannot be opened", path) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw failure("cannot be synced", path) }
  }

  private static func makeDirectory(_ path: String) throws(MediaError) {
    guard mkdir(path, directoryMode) == 0 || errno == EEXIST else { throw failure("cannot be created", path) }
  }

  static func entries(of directory: String) throws(MediaError) -> [String] {
    do {
      return try FileManager.default.contentsOfDirectory(atPath: directory)
    } catch {
      throw .failed("\(directory) cannot be read: \(error)")
    }
  }

  /// Converts `errno` to an error. Call it before anything else changes `errno`.
  static func failure(_ what: String, _ path: String) -> MediaError {
    let number = errno
    if number == ENOSPC || number == EDQUOT { return .storageFull }
    if number == EMFILE || number == ENFILE { return .busy }
    return .failed("\(path) \(what): \(String(cString: strerror(number)))")
  }
}
