private import Glibc

/// The file system of the machine. It retries nothing; `uninterrupted` repeats interrupted calls.
package struct PosixDisk: Disk {
  /// Only the server's own user can access directories and files, because the log holds every message.
  private static let directoryMode: mode_t = 0o700
  private static let fileMode: mode_t = 0o600

  package init() {}

  package func open(_ path: String, _ mode: DiskOpenMode) throws(DiskError) -> any DiskFile {
    let flags =
      switch mode {
      case .read: O_RDONLY
      case .readWrite: O_RDWR
      case .createNew: O_RDWR | O_CREAT | O_EXCL
      case .readWriteOrCreate: O_RDWR | O_CREAT
      }
    // O_NONBLOCK has no effect on a regular file. Without it, opening a FIFO would block until a writer opens it
    // (open(2)).
    let descriptor = try Self.call("open", path) { Glibc.open(path, flags | O_CLOEXEC | O_NONBLOCK, Self.fileMode) }
    let file = PosixFile(descriptor: descriptor, path: path)
    var status = stat()
    _ = try Self.call("fstat", path) { fstat(descriptor, &status) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw DiskError(operation: "open (not a regular file)", path: path, number: EINVAL)
    }
    return file
  }

  package func list(_ directory: String) throws(DiskError) -> [String]? {
    guard let stream = opendir(directory) else {
      let number = errno
      if number == ENOENT { return nil }
      throw DiskError(operation: "opendir", path: directory, number: number)
    }
    defer { closedir(stream) }
    var names: [String] = []
    while true {
      errno = 0
      guard let entry = readdir(stream) else {
        let number = errno
        if number == 0 { return names }
        throw DiskError(operation: "readdir", path: directory, number: number)
      }
      let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != ".", name != ".." { names.append(name) }
    }
  }

  package func createDirectory(_ path: String) throws(DiskError) {
    let parent = Self.parent(of: path)
    var number = mkdir(path, Self.directoryMode) == 0 ? 0 : errno
    if number == ENOENT, parent != path {
      try createDirectory(parent)
      number = mkdir(path, Self.directoryMode) == 0 ? 0 : errno
    }
    if number == EEXIST { return }
    guard number == 0 else { throw DiskError(operation: "mkdir", path: path, number: number) }
    // The sync is here and not in the caller, because a repeated call would find the directory and not sync its name.
    try uninterrupted { () throws(DiskError) in try syncDirectory(parent) }
  }

  package func rename(_ path: String, to target: String) throws(DiskError) {
    _ = try Self.call("rename", path) { Glibc.rename(path, target) }
  }

  package func remove(_ path: String) throws(DiskError) {
    _ = try Self.call("unlink", path) { unlink(path) }
  }

  package func link(_ path: String, to target: String) throws(DiskError) {
    _ = try Self.call("link", target) { Glibc.link(path, target) }
  }

  package func syncDirectory(_ path: String) throws(DiskError) {
    let descriptor = try Self.call("open", path) { Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    defer { close(descriptor) }
    _ = try Self.call("fsync", path) { fsync(descriptor) }
  }

  private static func parent(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// Runs a system call and throws if it fails.
  fileprivate static func call<Value: SignedInteger>(
    _ operation: String, _ path: String, offset: UInt64? = nil, _ body: () -> Value
  ) throws(DiskError) -> Value {
    let value = body()
    guard value >= 0 else { throw DiskError(operation: operation, path: path, offset: offset, number: errno) }
    return value
  }
}

/// A file descriptor, which is closed when the last reference is released.
private final class PosixFile: DiskFile {
  private let descriptor: Int32
  private let path: String

  init(descriptor: Int32, path: String) {
    self.descriptor = descriptor
    self.path = path
  }

  deinit {
    // Between fork and exec, a child process has a copy of the descriptor that shares the lock, so closing this one
    // alone would not release the lock.
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(DiskError) -> Int {
    guard let start = buffer.baseAddress else { return 0 }
    var done = 0
    while done < buffer.count {
      let systemOffset = try fileOffset(offset + UInt64(done))
      let step = try PosixDisk.call("pread", path, offset: offset) {
        pread(descriptor, start + done, buffer.count - done, systemOffset)
      }
      if step == 0 { break }
      done += step
    }
    return done
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(DiskError) -> Int {
    let systemOffset = try fileOffset(offset)
    return try PosixDisk.call("pwrite", path, offset: offset) {
      pwrite(descriptor, bytes.baseAddress, bytes.count, systemOffset)
    }
  }

  func sync() throws(DiskError) {
    _ = try PosixDisk.call("fdatasync", path) { fdatasync(descriptor) }
  }

  func size() throws(DiskError) -> UInt64 {
    var status = stat()
    _ = try PosixDisk.call("fstat", path) { fstat(descriptor, &status) }
    return UInt64(status.st_size)
  }

  func isNamed(by path: String) throws(DiskError) -> Bool {
    var own = stat()
    _ = try PosixDisk.call("fstat", path) { fstat(descriptor, &own) }
    var named = stat()
    do throws(DiskError) {
      _ = try PosixDisk.call("stat", path) { stat(path, &named) }
    } catch {
      if error.isMissingFile || error.number == ENOTDIR { return false }
      throw error
    }
    return own.st_dev == named.st_dev && own.st_ino == named.st_ino
  }

  func tryLock() throws(DiskError) -> Bool {
    do {
      _ = try PosixDisk.call("flock", path) { flock(descriptor, LOCK_EX | LOCK_NB) }
      return true
    } catch {
      if error.number == EWOULDBLOCK { return false }
      throw error
    }
  }

  private func fileOffset(_ offset: UInt64) throws(DiskError) -> off_t {
    guard let systemOffset = off_t(exactly: offset) else {
      throw DiskError(operation: "seek", path: path, offset: offset, number: EOVERFLOW)
    }
    return systemOffset
  }
}

extension DiskError: CustomStringConvertible {
  /// The call, the file, and the system's text for the error number.
  package var description: String {
    "\(operation) \(path): \(String(cString: strerror(number))) (errno \(number))"
  }

  /// Whether the file system, or a quota on it, is full.
  package var isFullDisk: Bool { number == ENOSPC || number == EDQUOT }

  /// Whether a signal interrupted the call before it did anything.
  package var isInterrupted: Bool { number == EINTR }

  /// Whether the process or the system has reached its limit of open files. The call has opened and changed nothing.
  package var isOutOfDescriptors: Bool { number == EMFILE || number == ENFILE }

  /// Whether the file does not exist.
  package var isMissingFile: Bool { number == ENOENT }

  /// An error for a write of fewer bytes than requested. A write is short if the disk fills up: `write(2)`, "if, for
  /// example, there is insufficient space on the underlying physical medium".
  static func shortWrite(path: String, offset: UInt64, written: Int, of count: Int) -> DiskError {
    DiskError(operation: "short write (\(written) of \(count) bytes) to", path: path, offset: offset, number: ENOSPC)
  }
}
