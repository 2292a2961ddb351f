import ChatPrimitives
import Synchronization

/// Counts what was read, for tests and tools.
final class ReadCounts: Sendable {
  /// The number of blocks whose body was read and checked.
  let blocks = Atomic<Int>(0)
  /// The number of bytes read.
  let bytes = Atomic<Int>(0)

  func addBlock() { blocks.add(1, ordering: .relaxed) }
}

/// An open file of the log. It counts reads and adds the location to errors.
struct LogFile: Sendable {
  let file: any DiskFile
  /// The file's name in `log/`.
  let name: String
  let path: String
  let counts: ReadCounts

  /// Reads up to `count` bytes. Returns fewer only at the end of the file.
  func read(at offset: UInt64, count: Int) throws(LogError) -> [UInt8] {
    // There is nothing to read. Besides, the standard library would write a count of zero into the one empty array that
    // all threads share, which ThreadSanitizer reports as a race.
    if count == 0 { return [] }
    var failure: DiskError?
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      do throws(DiskError) {
        filled = try uninterrupted { () throws(DiskError) in
          try file.read(into: UnsafeMutableRawBufferPointer(buffer), at: offset)
        }
      } catch {
        failure = error
        filled = 0
      }
    }
    if let failure { throw LogError(failure) }
    counts.bytes.add(bytes.count, ordering: .relaxed)
    return bytes
  }

  /// Writes all of `bytes` with one system call; a short write is an error.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64, position: LogPosition? = nil) throws(LogError) {
    do throws(DiskError) {
      let written = try uninterrupted { () throws(DiskError) in try file.write(bytes, at: offset) }
      guard written == bytes.count else {
        throw DiskError.shortWrite(path: path, offset: offset, written: written, of: bytes.count)
      }
    } catch {
      throw LogError(error, position: position)
    }
  }

  func write(_ bytes: [UInt8], at offset: UInt64) throws(LogError) {
    let span = bytes.span.bytes
    try span.withUnsafeBytes { (raw) throws(LogError) in try write(raw, at: offset) }
  }

  /// Writes zeros to a range.
  func writeZeros(_ range: Range<UInt64>) throws(LogError) {
    let block = Zeros.block
    var offset = range.lowerBound
    while offset < range.upperBound {
      let step = min(UInt64(Zeros.blockBytes), range.upperBound - offset)
      // The step is at most `Zeros.blockBytes`.
      let zeros = block.span.bytes.extracting(..<Int(step))
      try zeros.withUnsafeBytes { (raw) throws(LogError) in try write(raw, at: offset) }
      offset += step
    }
  }

  func sync(position: LogPosition? = nil) throws(LogError) {
    do {
      try uninterrupted { () throws(DiskError) in try file.sync() }
    } catch {
      throw LogError(error, position: position)
    }
  }

  /// Syncs, then throws if the path no longer refers to this file: writes to it would still succeed, but the next start
  /// would not find them. The check takes about 2 µs.
  func syncAndCheckPath(position: LogPosition? = nil) throws(LogError) {
    try sync(position: position)
    try requirePath(position: position)
  }

  private func requirePath(position: LogPosition?) throws(LogError) {
    let isNamed: Bool
    do {
      isNamed = try uninterrupted { () throws(DiskError) in try file.isNamed(by: path) }
    } catch {
      throw LogError(error, position: position)
    }
    guard isNamed else {
      throw LogError(
        .detached,
        "A file of the log was deleted, moved or replaced while the server was running. Before you stop the server, copy "
          + "the log's files that it has open, in /proc/PID/fd; then restore the log directory with these copies and "
          + "restart the server.",
        location: .init(file: path, position: position))
    }
  }

  func size() throws(LogError) -> UInt64 {
    do {
      return try uninterrupted { () throws(DiskError) in try file.size() }
    } catch {
      throw LogError(error)
    }
  }
}
