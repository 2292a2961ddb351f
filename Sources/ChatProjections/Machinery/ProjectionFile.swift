import Foundation
import GRDB

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// One SQLite file and its companions: the files that SQLite keeps beside it.
package struct ProjectionFile: Sendable, Hashable {
  package let path: String

  package init(path: String) {
    self.path = path
  }

  /// The suffixes of the files that SQLite keeps beside the file: <https://www.sqlite.org/tempfiles.html>.
  private static let companions = ["-wal", "-shm", "-journal"]
  /// Read models contain push tokens and password hashes, so only the owner may read them.
  private static let fileMode: mode_t = 0o600
  private static let directoryMode = 0o700
  /// SQLite's default.
  static let pageBytes = 4096

  package var exists: Bool { FileManager.default.fileExists(atPath: path) }
  /// The file's name without its folder.
  package var name: String { (path as NSString).lastPathComponent }

  /// The file's path first, then those of its companions.
  private var paths: [String] { [path] + Self.companions.map { path + $0 } }

  /// Rejects a directory, a FIFO, a socket or a device in place of the file or a companion, and a symbolic link to one.
  /// SQLite can use none of them, and opening a FIFO would block until something writes to it.
  func requireRegular() throws(ProjectionError) {
    for path in paths {
      var status = stat()
      if stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
        throw ProjectionError(
          .damagedRow, "\((path as NSString).lastPathComponent) is not a regular file", file: self.path)
      }
    }
  }

  /// Whether each page has a checksum. Nil for an empty file, which a crash during its creation leaves behind.
  func hasPageChecksums() throws(ProjectionError) -> Bool? {
    // O_NONBLOCK has no effect on a regular file. Without it, opening a FIFO would block until something writes to it
    // (open(2)).
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw failure("cannot be opened") }
    defer { close(descriptor) }
    var header = [UInt8](repeating: 0, count: PageChecksums.headerBytes)
    let count = read(descriptor, &header, header.count)
    guard count >= 0 else { throw failure("cannot be read") }
    return count == 0 ? nil : header.withUnsafeBytes { PageChecksums.areReserved(in: $0) }
  }

  /// A file beside this one, for a rebuild or a comparison. The server never reads it.
  func sibling(_ purpose: String) -> ProjectionFile { ProjectionFile(path: "\(path).\(purpose)") }

  /// Removes the files named `<purpose>-<process>` beside this one whose process no longer runs.
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

  /// Creates an empty file with the right mode before SQLite opens it. SQLite gives the companions the same mode.
  func create() throws(ProjectionError) {
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, Self.fileMode)
    guard descriptor >= 0 else { throw failure("cannot be created") }
    close(descriptor)
  }

  /// Removes the file and then its companions. A crash in between can leave the write-ahead log. SQLite deletes that
  /// log when it finds it beside an empty file, but would apply it to any other file.
  func remove() throws(ProjectionError) {
    for path in paths where unlink(path) != 0 && errno != ENOENT {
      throw failure("cannot be removed")
    }
  }

  /// Renames the file and then its companions, in the same order as `remove`. Replaces the file that was moved aside
  /// before.
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

  /// `….aside`, with a number appended if a directory has that name. A directory is never removed, because its files
  /// may be somebody's.
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

  /// Replaces `other` with this complete and closed file. No connection may have `other` open.
  ///
  /// A rename replaces a file in one step, but the old file's write-ahead log must be gone before it. Closing the last
  /// connection removes the log. If that fails, the old file is removed first, so that in the worst case there is no
  /// file.
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

  /// Gives this complete and closed file its final name, which no file has.
  func publish(as other: ProjectionFile) throws(ProjectionError) {
    try syncToDisk(path)
    guard rename(path, other.path) == 0 else { throw failure("cannot be renamed to \(other.path)") }
    try syncToDisk((other.path as NSString).deletingLastPathComponent)
  }

  /// Syncs what was written to the file so far. Only for a file that one connection has open: closing the descriptor
  /// releases the process's locks on the file (fcntl(2)).
  func syncData() throws(ProjectionError) {
    try syncToDisk(path)
  }

  /// Opens and closes the file once, which writes its write-ahead log into it and removes the log. The caller checks
  /// whether the log is gone.
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
  /// How many queries can read one file at once; others wait.
  private static let readers = 4
  /// How long SQLite waits for another process, such as a tool, in milliseconds. After that, the runner reports the
  /// file and tries again.
  static let busyMilliseconds: Int32 = 1000
  /// The page cache of a connection, in KiB. A miss is usually served from the operating system's page cache: it costs
  /// a copy of the page but no disk access.
  private static let readerCacheKiB = 1024
  static let writerCacheKiB = 4 * 1024
  /// The page cache of the writer while the projection is behind, in KiB. It changes many pages in one transaction.
  static let busyWriterCacheKiB = 64 * 1024
  /// The page caches of a rebuild, in KiB: those of one read model, and of all that are rebuilt at once.
  private static let rebuildCacheKiB = 256 * 1024
  private static let rebuildCachesKiB = 512 * 1024

  /// The page cache of each read model if so many are rebuilt at once, in KiB.
  static func rebuildCacheKiB(views: Int) -> Int { min(rebuildCacheKiB, rebuildCachesKiB / max(1, views)) }

  /// A pool for a projection that follows the log: one writer and several readers, each with its own snapshot.
  func openPool(_ projection: any Projection.Type) throws -> DatabasePool {
    try create()
    try PageChecksums.register()
    var configuration = Self.configuration(projection)
    configuration.maximumReaderCount = Self.readers
    let pool = try DatabasePool(path: path, configuration: configuration)
    try pool.writeWithoutTransaction { database in
      try database.execute(sql: "PRAGMA cache_size = -\(Self.writerCacheKiB)")
      try database.execute(sql: "PRAGMA wal_autocheckpoint = \(CheckpointPlan.pages)")
      PageChecksums.syncInSteps(database)
    }
    return pool
  }

  /// Lets another thread write the write-ahead log into the file, instead of the pool's writer.
  /// - Parameter pool: of this file.
  func backgroundCheckpoints(_ projection: any Projection.Type, of pool: DatabasePool) throws -> BackgroundCheckpoints {
    let connection = try DatabaseQueue(path: path, configuration: Self.configuration(nil))
    try connection.inDatabase { PageChecksums.syncInSteps($0) }
    return try BackgroundCheckpoints(pool, connection, log: path + "-wal", name: projection.name)
  }

  /// A read-only connection that may be used beside a running server. It does not verify page checksums.
  func openReadOnly(_ projection: (any Projection.Type)? = nil) throws -> DatabaseQueue {
    try PageChecksums.register()
    var configuration = Self.configuration(projection, verifiesChecksums: false)
    configuration.readonly = true
    return try DatabaseQueue(path: path, configuration: configuration)
  }

  /// A connection for filling a new file as fast as possible. There is no journal, so a crash leaves an unusable file.
  /// The file must therefore have a name that nothing reads until it is complete.
  func openForRebuild(_ projection: any Projection.Type, cacheKiB: Int) throws -> DatabaseQueue {
    try remove()
    try create()
    try PageChecksums.register()
    let queue = try DatabaseQueue(path: path, configuration: Self.configuration(projection))
    try queue.writeWithoutTransaction { database in
      try database.execute(sql: "PRAGMA journal_mode = OFF")
      try database.execute(sql: "PRAGMA synchronous = OFF")
      try database.execute(sql: "PRAGMA locking_mode = EXCLUSIVE")
      try database.execute(sql: "PRAGMA cache_size = -\(cacheKiB)")
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
      // This comes first, because the next statements read the file's first page.
      if !verifiesChecksums { PageChecksums.unsafeSkip(database) }
      try PageChecksums.reserve(database)
      try database.execute(sql: "PRAGMA cache_size = -\(readerCacheKiB)")
      try database.execute(sql: "PRAGMA temp_store = MEMORY")
      // Overwrites deleted content with zeros, so that a deleted text is no longer in the file. The default depends on
      // how SQLite was built (https://www.sqlite.org/pragma.html#pragma_secure_delete).
      try database.execute(sql: "PRAGMA secure_delete = ON")
      try projection?.prepare(database)
    }
    return configuration
  }
}
