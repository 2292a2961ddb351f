/// The file system operations that the log needs, as a protocol so that a test can replace them. Calls block and can
/// come from any thread. A call that a signal interrupts fails with `EINTR` and has done nothing; `uninterrupted`
/// repeats it.
package protocol Disk: Sendable {
  func open(_ path: String, _ mode: DiskOpenMode) throws(DiskError) -> any DiskFile
  /// Lists the names in a directory, in any order; nil if the directory does not exist.
  func list(_ directory: String) throws(DiskError) -> [String]?
  /// Creates a directory and its missing parents, accessible only to the owner. Their names are durable when the call
  /// returns. An existing directory is left unchanged.
  func createDirectory(_ path: String) throws(DiskError)
  /// Renames a file, and replaces the file at `target` if there is one.
  func rename(_ path: String, to target: String) throws(DiskError)
  func remove(_ path: String) throws(DiskError)
  /// Gives a file a second name, for which there is no file yet.
  func link(_ path: String, to target: String) throws(DiskError)
  /// Makes creations, renames and removals in a directory durable.
  func syncDirectory(_ path: String) throws(DiskError)
}

/// How to open a file.
package enum DiskOpenMode: Sendable, Hashable {
  /// Opens an existing file for reading.
  case read
  /// Opens an existing file for reading and writing.
  case readWrite
  /// Creates a file for reading and writing; fails if it exists.
  case createNew
  /// Opens a file for reading and writing, and creates it if it does not exist.
  case readWriteOrCreate
}

/// An open file, which is closed when the last reference is released.
package protocol DiskFile: AnyObject, Sendable {
  /// Reads at an offset.
  /// - Returns: the number of bytes read, which is less than requested only at the end of the file.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(DiskError) -> Int
  /// Writes at an offset, with one system call.
  /// - Returns: the number of bytes written. If it is less than given, the caller reports a failure.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(DiskError) -> Int
  /// Returns when all data written, and the length, are on the disk (`fdatasync`).
  func sync() throws(DiskError)
  /// The length of the file, in bytes.
  func size() throws(DiskError) -> UInt64
  /// Whether `path` still refers to this open file: same device and inode (`fstat`, `stat`). The inode cannot be reused
  /// while the file is open.
  func isNamed(by path: String) throws(DiskError) -> Bool
  /// Takes the exclusive lock of the file without waiting. Closing the file releases it.
  /// - Returns: false if another open file holds the lock.
  func tryLock() throws(DiskError) -> Bool
}

/// A file system call that failed.
package struct DiskError: Error, Sendable, Hashable {
  /// The name of the system call, such as `pwrite`.
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
