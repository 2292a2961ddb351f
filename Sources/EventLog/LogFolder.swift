/// The names in a data directory that belong to the log.
struct LogFolder: Sendable {
  /// The data directory.
  let data: String
  /// `log/` in it.
  let path: String
  let disk: any Disk

  init(data: String, disk: any Disk) {
    self.data = data
    self.path = data + "/log"
    self.disk = disk
  }

  /// Unfinished files end so; they mean nothing after a restart.
  static let temporarySuffix = ".tmp"

  func path(of name: String) -> String { path + "/" + name }

  func open(_ name: String, _ mode: DiskOpenMode, counts: ReadCounts) throws(LogError) -> LogFile {
    do {
      return LogFile(file: try disk.open(path(of: name), mode), name: name, path: path(of: name), counts: counts)
    } catch {
      throw LogError(error)
    }
  }

  /// What stands in `log/`; nil when there is no such directory.
  func names() throws(LogError) -> [String]? {
    do { return try disk.list(path) } catch { throw LogError(error) }
  }

  func remove(_ name: String) throws(LogError) {
    do { try disk.remove(path(of: name)) } catch { throw LogError(error) }
  }

  /// Gives a finished, synced file its name, durably.
  func rename(_ name: String, to target: String) throws(LogError) {
    do {
      try disk.rename(path(of: name), to: path(of: target))
      try disk.syncDirectory(path)
    } catch {
      throw LogError(error)
    }
  }

  func sync() throws(LogError) {
    do { try disk.syncDirectory(path) } catch { throw LogError(error) }
  }

  /// The newest superblock; nil when there is no such file.
  func readSuperblock(counts: ReadCounts) throws(LogError) -> Superblock? {
    let file: LogFile
    do {
      let path = path(of: Superblock.fileName)
      file = LogFile(file: try disk.open(path, .read), name: Superblock.fileName, path: path, counts: counts)
    } catch {
      if error.isMissingFile { return nil }
      throw LogError(error)
    }
    let bytes = try file.read(at: 0, count: Superblock.fileBytes)
    do {
      return try Superblock.newest(in: bytes.span.bytes)
    } catch {
      throw LogError(error, at: .init(file: Superblock.fileName, offset: 0))
    }
  }
}
