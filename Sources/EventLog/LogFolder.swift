/// The names in a data directory that belong to the log.
struct LogFolder: Sendable {
  /// The data directory.
  let data: String
  /// `log/` in it.
  let path: String
  let disk: any Disk
  private var waitsForDescriptors = false

  init(data: String, disk: any Disk) {
    self.data = data
    self.path = data + "/log"
    self.disk = disk
  }

  /// Unfinished files end so; they mean nothing after a restart.
  static let temporarySuffix = ".tmp"

  func path(of name: String) -> String { path + "/" + name }

  /// The same folder, whose calls wait a limited time for a free descriptor.
  var patient: LogFolder {
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

  /// The names of all that is in `log/`; nil when there is no such directory.
  func names() throws(LogError) -> [String]? {
    try run { () throws(DiskError) in try disk.list(path) }
  }

  /// A new file under a temporary name; what an earlier attempt left under it goes.
  func openTemporary(_ name: String, counts: ReadCounts) throws(LogError) -> LogFile {
    if try names()?.contains(name) ?? false { try remove(name) }
    return try open(name, .createNew, counts: counts)
  }

  func remove(_ name: String) throws(LogError) {
    try run { () throws(DiskError) in try disk.remove(path(of: name)) }
  }

  /// Puts a finished, synced file in the place of another; `sync` makes it durable, and until then either may be found
  /// after a crash.
  func swap(_ name: String, for target: String) throws(LogError) {
    try run { () throws(DiskError) in try disk.rename(path(of: name), to: path(of: target)) }
  }

  /// Gives a finished, synced file its name, durably.
  func rename(_ name: String, to target: String) throws(LogError) {
    try run { () throws(DiskError) in try disk.rename(path(of: name), to: path(of: target)) }
    try sync()
  }

  /// Makes the names in `log/` durable.
  func sync() throws(LogError) {
    try run { () throws(DiskError) in try disk.syncDirectory(path) }
  }

  /// Makes the names in the data directory durable, `log` among them.
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

  /// The newest superblock; nil when there is no such file.
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
    // One byte more than there must be shows a file that is too long.
    let bytes = try file.read(at: 0, count: Superblock.fileBytes + 1)
    do {
      return try Superblock.newest(in: bytes.span.bytes)
    } catch {
      throw LogError(error, at: .init(file: Superblock.fileName, offset: 0))
    }
  }
}
