/// The directory of the log in a data directory, and its file operations.
struct LogFolder: Sendable {
  /// The data directory.
  let data: String
  /// The path of `log/` in the data directory.
  let path: String
  let disk: any Disk
  private var waitsForDescriptors = false

  init(data: String, disk: any Disk) {
    self.data = data
    self.path = data + "/log"
    self.disk = disk
  }

  /// The suffix of unfinished files. They are useless after a restart.
  static let temporarySuffix = ".tmp"

  func path(of name: String) -> String { path + "/" + name }

  /// The same folder, except that its calls wait a limited time for a free file descriptor.
  var waitingForDescriptors: LogFolder {
    var copy = self
    copy.waitsForDescriptors = true
    return copy
  }

  /// Creates `log/` and the directories above it.
  func create() throws(LogError) {
    try run { () throws(DiskError) in try disk.createDirectory(path) }
  }

  func open(_ name: String, _ mode: DiskOpenMode, counts: ReadCounts) throws(LogError) -> LogFile {
    let path = path(of: name)
    let file = try run { () throws(DiskError) in try disk.open(path, mode) }
    return LogFile(file: file, name: name, path: path, counts: counts)
  }

  /// The names of all files in `log/`; nil if there is no such directory.
  func names() throws(LogError) -> [String]? {
    try run { () throws(DiskError) in try disk.list(path) }
  }

  /// Creates a file under a temporary name. A file that an earlier attempt left under that name is removed.
  func openTemporary(_ name: String, counts: ReadCounts) throws(LogError) -> LogFile {
    if try names()?.contains(name) ?? false { try remove(name) }
    return try open(name, .createNew, counts: counts)
  }

  func remove(_ name: String) throws(LogError) {
    try run { () throws(DiskError) in try disk.remove(path(of: name)) }
  }

  /// Replaces another file by a finished, synced one. `sync` makes the change durable; until then, a crash can leave
  /// either file under the name.
  func swap(_ name: String, for target: String) throws(LogError) {
    try run { () throws(DiskError) in try disk.rename(path(of: name), to: path(of: target)) }
  }

  /// Renames a finished, synced file to its final name, durably.
  func rename(_ name: String, to target: String) throws(LogError) {
    try run { () throws(DiskError) in try disk.rename(path(of: name), to: path(of: target)) }
    try sync()
  }

  /// Makes the names in `log/` durable.
  func sync() throws(LogError) {
    try run { () throws(DiskError) in try disk.syncDirectory(path) }
  }

  /// Makes the names in the data directory durable, including `log`.
  func syncData() throws(LogError) {
    try run { () throws(DiskError) in try disk.syncDirectory(data) }
  }

  private func run<Value>(_ call: () throws(DiskError) -> Value) throws(LogError) -> Value {
    do throws(DiskError) {
      if waitsForDescriptors { return try withDescriptor(call) }
      return try uninterrupted(call)
    } catch {
      throw LogError(error)
    }
  }

  /// Reads the newest superblock; nil if the file does not exist.
  func readSuperblock(counts: ReadCounts) throws(LogError) -> Superblock? {
    let file: LogFile
    do {
      let path = path(of: Superblock.fileName)
      let opened = try uninterrupted { () throws(DiskError) in try disk.open(path, .read) }
      file = LogFile(file: opened, name: Superblock.fileName, path: path, counts: counts)
    } catch {
      if error.isMissingFile { return nil }
      throw LogError(error)
    }
    // Reading one byte more than the file must have detects a file that is too long.
    let bytes = try file.read(at: 0, count: Superblock.fileBytes + 1)
    do {
      return try Superblock.newest(in: bytes.span.bytes)
    } catch {
      throw LogError(error, at: .init(file: Superblock.fileName, offset: 0))
    }
  }
}
