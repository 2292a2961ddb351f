import Foundation
import GRDB

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// One SQLite file and what SQLite keeps beside it.
package struct ProjectionFile: Sendable, Hashable {
  package let path: String

  package init(path: String) {
    self.path = path
  }

  /// The live file of a projection in the folder of read models.
  package init(_ projection: any Projection.Type, in directory: String) {
    path = "\(directory)/\(projection.name)-v\(projection.schemaVersion).sqlite"
  }

  /// What SQLite keeps beside the file in WAL mode: <https://www.sqlite.org/tempfiles.html>.
  private static let companions = ["-wal", "-shm", "-journal"]
  /// Read models hold push tokens and password hashes: the owner alone reads them.
  private static let fileMode: mode_t = 0o600
  private static let directoryMode = 0o700

  package var exists: Bool { FileManager.default.fileExists(atPath: path) }
  /// Without its folder.
  package var name: String { (path as NSString).lastPathComponent }

  /// The file's path first, then those of its companions.
  private var paths: [String] { [path] + Self.companions.map { path + $0 } }

  /// Refuses a directory, a FIFO, a socket or a device in place of the file or a companion, and a symbolic link to one:
  /// opening a FIFO would wait for a writer, and SQLite can use none of them.
  func requireRegular() throws(ProjectionError) {
    for path in paths {
      var status = stat()
      if stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
        throw ProjectionError(
          .damagedRow, "\((path as NSString).lastPathComponent) is not a regular file", file: self.path)
      }
    }
  }

  /// Whether each page has a checksum; nil for an empty file, which a crash during its creation leaves behind.
  func hasPageChecksums() throws(ProjectionError) -> Bool? {
    // O_NONBLOCK changes nothing for a regular file; a FIFO would otherwise block until somebody writes to it (open(2)).
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw failure("cannot be opened") }
    defer { close(descriptor) }
    var header = [UInt8](repeating: 0, count: PageChecksums.headerBytes)
    let count = read(descriptor, &header, header.count)
    guard count >= 0 else { throw failure("cannot be read") }
    return count == 0 ? nil : header.withUnsafeBytes { PageChecksums.areReserved(in: $0) }
  }

  /// A file beside this one that is being made, or compared with, and never read by the server.
  func sibling(_ purpose: String) -> ProjectionFile { ProjectionFile(path: "\(path).\(purpose)") }

  /// Removes the files named `<purpose>-<process>` beside this one whose process is no more.
  func removeSiblings(ofDeadProcessesFor purpose: String) throws(ProjectionError) {
    let name = self.name + ".\(purpose)-"
    let directory = (path as NSString).deletingLastPathComponent
    for entry in (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? [] {
      guard entry.hasPrefix(name), let process = Int32(entry.dropFirst(name.count)), kill(process, 0) != 0 else {
        continue
      }
      try sibling("\(purpose)-\(process)").remove()
    }
  }

  // MARK: - Files

  static func makeDirectory(_ directory: String) throws(ProjectionError) {
    do {
      try FileManager.default.createDirectory(
        atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: directoryMode])
    } catch {
      throw ProjectionError(
        .fileFailed, "the directory of the read models cannot be created: \(error)", file: directory)
    }
  }

  /// Makes the file empty, with its mode, before SQLite sees it. SQLite gives the files beside it the same mode.
  func create() throws(ProjectionError) {
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, Self.fileMode)
    guard descriptor >= 0 else { throw failure("cannot be created") }
    close(descriptor)
  }

  /// Removes it and the files beside it, itself first: a write-ahead log that is left over by a crash in between is
  /// deleted by SQLite when it finds it beside an empty file, and would be applied to any other.
  func remove() throws(ProjectionError) {
    for path in paths where unlink(path) != 0 && errno != ENOENT {
      throw failure("cannot be removed")
    }
  }

  /// Puts it out of the way under another name, where the next one that is put aside replaces it. In the same order.
  func moveAside() throws(ProjectionError) -> ProjectionFile {
    let aside = freeAside()
    try aside.remove()
    for suffix in [""] + Self.companions where rename(path + suffix, aside.path + suffix) != 0 && errno != ENOENT {
      let reason = String(cString: strerror(errno))
      throw ProjectionError(
        .cannotMoveAside, "\(name + suffix) cannot be used, and cannot be moved aside: \(reason)", file: path)
    }
    return aside
  }

  /// `….aside`, or with a number behind it where a directory has that name: a directory is never removed, because its
  /// files may be somebody's.
  private func freeAside() -> ProjectionFile {
    var (aside, number) = (sibling("aside"), 1)
    while aside.paths.contains(where: Self.isDirectory) {
      number += 1
      aside = sibling("aside-\(number)")
    }
    return aside
  }

  private static func isDirectory(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  /// Puts this complete and closed file in the place of `other`, which nobody may have open.
  ///
  /// A rename replaces a file in one step. Before it, the old file's write-ahead log must be gone: closing the last
  /// connection removes it, and where that fails, the old file goes first, so that at worst there is none.
  func replace(_ other: ProjectionFile) throws(ProjectionError) {
    try syncToDisk(path)
    do {
      try other.requireRegular()
      other.mergeWAL()
    } catch {
      _ = try other.moveAside()
    }
    if FileManager.default.fileExists(atPath: other.path + "-wal") { try other.remove() }
    guard rename(path, other.path) == 0 else { throw failure("cannot be renamed to \(other.path)") }
    let directory = (other.path as NSString).deletingLastPathComponent
    try syncToDisk(directory)
  }

  /// Opens and closes it once, which writes its log into it and removes the log. Whether that worked shows in whether
  /// the log is gone.
  private func mergeWAL() {
    guard exists else { return }
    guard let queue = try? DatabaseQueue(path: path) else { return }
    try? queue.writeWithoutTransaction { database in
      _ = try database.checkpoint(.truncate)
    }
    try? queue.close()
  }

  private func syncToDisk(_ path: String) throws(ProjectionError) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure("\(path) cannot be opened for syncing") }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw failure("\(path) cannot be synced") }
  }

  private func failure(_ what: String) -> ProjectionError {
    let reason = String(cString: strerror(errno))
    return ProjectionError(.fileFailed, "the read model's file \(what): \(reason)", file: path)
  }
}

// MARK: - Connections

extension ProjectionFile {
  /// How many requests read one file at once; the others wait.
  private static let readers = 4
  /// How long SQLite waits for another process, such as a tool, in milliseconds. After that the runner reports the file
  /// and tries again.
  static let busyMilliseconds: Int32 = 1000
  /// The page cache of a connection, in KiB. A miss is usually served from the system's own cache of files: it costs a copy
  /// of the page and no access to the disk.
  private static let readerCacheKiB = 1024
  static let writerCacheKiB = 4 * 1024
  /// The same while the projection is behind, and one transaction changes many pages.
  static let busyWriterCacheKiB = 64 * 1024
  static let rebuildCacheKiB = 256 * 1024
  /// Pages of the write-ahead log after which it is written into the file: 16 MiB. Each time costs two syncs.
  private static let checkpointPages = 4096

  /// A pool for a projection that follows the log: one writer, several readers, each with a snapshot.
  func openPool(_ projection: any Projection.Type) throws -> DatabasePool {
    try create()
    try PageChecksums.register()
    var configuration = Self.configuration(projection)
    configuration.maximumReaderCount = Self.readers
    let pool = try DatabasePool(path: path, configuration: configuration)
    try pool.writeWithoutTransaction { database in
      try database.execute(sql: "PRAGMA cache_size = -\(Self.writerCacheKiB)")
      try database.execute(sql: "PRAGMA wal_autocheckpoint = \(Self.checkpointPages)")
    }
    return pool
  }

  /// A connection that changes nothing and may be used beside a running server. It does not verify page checksums.
  func openReadOnly(_ projection: (any Projection.Type)? = nil) throws -> DatabaseQueue {
    try PageChecksums.register()
    var configuration = Self.configuration(projection, verifiesChecksums: false)
    configuration.readonly = true
    return try DatabaseQueue(path: path, configuration: configuration)
  }

  /// A connection for filling a new file as fast as it goes. Without a journal a crash leaves rubbish, so the file must
  /// have a name that nobody reads until it is complete.
  func openForRebuild(_ projection: any Projection.Type) throws -> DatabaseQueue {
    try remove()
    try create()
    try PageChecksums.register()
    let queue = try DatabaseQueue(path: path, configuration: Self.configuration(projection))
    try queue.writeWithoutTransaction { database in
      try database.execute(sql: "PRAGMA journal_mode = OFF")
      try database.execute(sql: "PRAGMA synchronous = OFF")
      try database.execute(sql: "PRAGMA locking_mode = EXCLUSIVE")
      try database.execute(sql: "PRAGMA cache_size = -\(Self.rebuildCacheKiB)")
    }
    return queue
  }

  private static func configuration(
    _ projection: (any Projection.Type)?, verifiesChecksums: Bool = true
  ) -> Configuration {
    var configuration = Configuration()
    configuration.busyMode = .timeout(TimeInterval(busyMilliseconds) / 1000)
    configuration.foreignKeysEnabled = false
    configuration.prepareDatabase { database in
      // First, because the next statements read the file's first page.
      if !verifiesChecksums { PageChecksums.unsafeSkip(database) }
      try PageChecksums.reserve(database)
      try database.execute(sql: "PRAGMA cache_size = -\(readerCacheKiB)")
      try database.execute(sql: "PRAGMA temp_store = MEMORY")
      // What is deleted is overwritten with zeros, so that a deleted text leaves the file. The default depends on how
      // SQLite was built (https://www.sqlite.org/pragma.html#pragma_secure_delete).
      try database.execute(sql: "PRAGMA secure_delete = ON")
      try projection?.prepare(database)
    }
    return configuration
  }
}
