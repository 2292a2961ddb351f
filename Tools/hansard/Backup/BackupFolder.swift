import ChatPrimitives
import ChatService
import EventLog
import Foundation

/// The directory of a backup. `current` is a symbolic link to the newest complete copy of the log and the keys, a
/// directory `backup-…` that every tool can read like a data directory. `media/` has the uploaded files.
///
/// A copy never changes once `current` points to it. A backup makes a new one beside it and then replaces the link.
struct BackupFolder {
  /// The first backup writes this file, which marks the directory.
  private static let marker = "hansard-backup"
  private static let currentName = "current"
  private static let copyPrefix = "backup-"

  let path: String
  private let files = FileManager.default

  var media: String { path + "/media" }

  /// The newest complete copy, by its real path. Nil if there is none.
  var current: String? {
    let name = try? files.destinationOfSymbolicLink(atPath: "\(path)/\(Self.currentName)")
    return name.map { "\(path)/\($0)" }
  }

  private init(path: String) { self.path = path }

  /// Opens the directory of a backup for reading.
  static func existing(_ path: String) throws(ToolError) -> (folder: BackupFolder, current: String) {
    let folder = BackupFolder(path: path)
    guard folder.isMarked, let current = folder.current else {
      throw ToolError(
        "\(path) is not a backup", because: "hansard backup has not completed one there",
        next: "name the directory that --to named")
    }
    return (folder, current)
  }

  /// Creates the directory, or opens that of earlier backups.
  static func forWriting(_ path: String) throws -> (folder: BackupFolder, lock: DirectoryLock) {
    let folder = BackupFolder(path: path)
    let content = try Self.content(of: path)
    if !folder.isMarked {
      guard content.allSatisfy({ $0 == marker + ".new" }) else {
        throw ToolError(
          "\(path) cannot be used for a backup", because: "it is neither empty nor the directory of an earlier backup",
          next: "name another directory with --to")
      }
      try PosixDisk().createDirectory(path)
      try PrivateFile.write("This directory belongs to hansard backup.\n", to: "\(path)/\(marker)")
    }
    let lock: DirectoryLock
    do {
      lock = try DirectoryLock(directory: path)
    } catch {
      guard error.code == .locked else { throw error }
      throw ToolError("\(path) is in use", because: "another backup runs", next: "wait until it has ended")
    }
    if folder.current != nil { try folder.removeOtherCopies() }
    return (folder, lock)
  }

  /// The names in a directory, except for those that a new file system or an earlier attempt has. Empty if there is no
  /// such directory.
  static func content(of path: String) throws -> [String] {
    guard FileManager.default.fileExists(atPath: path) else { return [] }
    do {
      return try FileManager.default.contentsOfDirectory(atPath: path)
        .filter { $0 != DirectoryLock.fileName && $0 != "lost+found" }
    } catch {
      throw ToolError("the directory \(path) cannot be read", because: error.localizedDescription)
    }
  }

  private var isMarked: Bool { files.fileExists(atPath: "\(path)/\(Self.marker)") }

  // MARK: - Copies

  /// Creates the directory of a new copy.
  func makeCopy(head: LogPosition) throws -> String {
    let base = "\(path)/\(Self.copyPrefix)\(head)"
    var (copy, number) = (base, 1)
    while files.fileExists(atPath: copy) {
      number += 1
      copy = "\(base)-\(number)"
    }
    try PosixDisk().createDirectory(copy)
    return copy
  }

  /// Makes a complete copy the current one, durably, and removes the others.
  func complete(_ copy: String) throws {
    let disk = PosixDisk()
    try disk.syncDirectory(copy)
    try disk.syncDirectory(path)
    let link = "\(path)/\(Self.currentName)"
    let unfinished = link + ".new"
    if unlink(unfinished) != 0, errno != ENOENT { throw Self.failure(unfinished) }
    guard symlink((copy as NSString).lastPathComponent, unfinished) == 0 else { throw Self.failure(unfinished) }
    try disk.rename(unfinished, to: link)
    try disk.syncDirectory(path)
    try removeOtherCopies()
  }

  func remove(_ copy: String) throws { try files.removeItem(atPath: copy) }

  /// Removes unfinished copies and, after a backup, the one before it.
  private func removeOtherCopies() throws {
    let kept = current.map { ($0 as NSString).lastPathComponent }
    for name in try files.contentsOfDirectory(atPath: path) where name.hasPrefix(Self.copyPrefix) && name != kept {
      try files.removeItem(atPath: "\(path)/\(name)")
    }
  }

  private static func failure(_ path: String) -> ToolError {
    ToolError("\(path) cannot be written", because: SystemError.text(errno))
  }
}
