/// All that the log asks of a file system, so that a test can replace it. Calls block; they may come from any
/// thread. A call that a signal interrupts fails with `EINTR` and has done nothing; `uninterrupted` repeats it.
package protocol Disk: Sendable {
  func open(_ path: String, _ mode: DiskOpenMode) throws(DiskError) -> any DiskFile
  /// Names in a directory, in any order; nil when there is no such directory.
  func list(_ directory: String) throws(DiskError) -> [String]?
  /// Makes a directory and those above it, for its owner only; their names are durable when it returns. An existing
  /// one is left as it is.
  func createDirectory(_ path: String) throws(DiskError)
  /// Replaces the file at `target`.
  func rename(_ path: String, to target: String) throws(DiskError)
  func remove(_ path: String) throws(DiskError)
  /// Makes creations, renames and removals in a directory durable.
  func syncDirectory(_ path: String) throws(DiskError)
}

/// How a file is opened.
package enum DiskOpenMode: Sendable, Hashable {
  /// An existing file, to read.
  case read
  /// An existing file, to read and write.
  case readWrite
  /// A new file, to read and write; it must not exist.
  case createNew
  /// A file to read and write, made when it does not exist.
  case readWriteOrCreate
}

/// An open file; closed when the last reference goes.
package protocol DiskFile: AnyObject, Sendable {
  /// Reads at an offset.
  /// - Returns: the number of bytes read; fewer than asked for only at the end of the file.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(DiskError) -> Int
  /// Writes at an offset, with one call.
  /// - Returns: the number of bytes written; fewer than given is a failure that the caller reports.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(DiskError) -> Int
  /// Returns when everything written, and the length, is on the disk (`fdatasync`).
  func sync() throws(DiskError)
  /// In bytes.
  func size() throws(DiskError) -> UInt64
  /// Whether `path` still refers to this open file: same device and inode (`fstat`, `stat`). The inode cannot be reused
  /// while the file is open.
  func isNamed(by path: String) throws(DiskError) -> Bool
  /// Takes the exclusive lock of the file without waiting; it goes with the file.
  /// - Returns: false when another open file has it.
  func tryLock() throws(DiskError) -> Bool
}

/// A failed call.
package struct DiskError: Error, Sendable, Hashable {
  /// Such as `pwrite`.
  package var operation: String
  package var path: String
  package var offset: UInt64?
  /// `errno`.
  package var number: Int32

  package init(operation: String, path: String, offset: UInt64? = nil, number: Int32) {
    self.operation = operation
    self.path = path
    self.offset = offset
    self.number = number
  }
}
