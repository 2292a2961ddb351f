import GRDBSQLite

/// The methods of the files that are write-ahead logs.
extension PageChecksums {
  /// The state of an open log.
  struct LogState {
    var frames = LogFrames()
    /// Memory for a header and its page; nil until the first header is held.
    var frame: UnsafeMutableRawPointer?
    var frameBytes = 0
    /// Where the header goes that is held.
    var headerOffset: sqlite3_int64 = 0

    /// - Returns: memory for a frame with a page of this size. Keeps the header.
    mutating func reserve(page: Int) -> UnsafeMutableRawPointer {
      let needed = LogFrames.headerBytes + page
      if let frame, frameBytes >= needed { return frame }
      let larger = UnsafeMutableRawPointer.allocate(byteCount: needed, alignment: MemoryLayout<UInt64>.alignment)
      if let frame {
        larger.copyMemory(from: frame, byteCount: LogFrames.headerBytes)
        frame.deallocate()
      }
      (frame, frameBytes) = (larger, needed)
      return larger
    }

    mutating func free() {
      frame?.deallocate()
      frame = nil
    }
  }

  static func replaceLogMethods(_ log: inout sqlite3_io_methods) {
    log.xRead = { PageChecksums.readLog($0, $1, $2, $3) }
    log.xWrite = { PageChecksums.writeLog($0, $1, $2, $3) }
    log.xTruncate = { file, size in PageChecksums.afterHeldHeader(file) { $0.xTruncate(file, size) } }
    log.xSync = { file, flags in PageChecksums.afterHeldHeader(file) { $0.xSync(file, flags) } }
    log.xFileSize = { file, size in PageChecksums.afterHeldHeader(file) { $0.xFileSize(file, size) } }
    log.xClose = { PageChecksums.closeLog($0) }
  }

  private static func readLog(
    _ file: File?, _ buffer: UnsafeMutableRawPointer?, _ count: Int32, _ offset: sqlite3_int64
  ) -> Int32 {
    afterHeldHeader(file) { _ in
      guard let system else { return SQLITE_MISUSE }
      return readWithoutChecksum(system.systemLog, file, buffer, count, offset)
    }
  }

  private static func writeLog(
    _ file: File?, _ buffer: UnsafeRawPointer?, _ count: Int32, _ offset: sqlite3_int64
  ) -> Int32 {
    guard let file, let buffer, let system else { return SQLITE_MISUSE }
    let log = system.logState(of: file)
    if log.pointee.frames.isHolding, !log.pointee.frames.isHeldPage(Int(count), at: offset) {
      let code = writeHeldHeader(file, system)
      guard code == SQLITE_OK else { return code }
    }
    let code: Int32
    switch log.pointee.frames.write(Int(count), at: offset) {
    case .hold:
      log.pointee.reserve(page: 0).copyMemory(from: buffer, byteCount: Int(count))
      log.pointee.headerOffset = offset
      return SQLITE_OK
    case .join:
      let frame = log.pointee.reserve(page: Int(count))
      (frame + LogFrames.headerBytes).copyMemory(from: buffer, byteCount: Int(count))
      let bytes = Int32(LogFrames.headerBytes) + count
      code = system.systemLog.pointee.xWrite(file, frame, bytes, log.pointee.headerOffset)
    case .write:
      code = system.systemLog.pointee.xWrite(file, buffer, count, offset)
    }
    if code != SQLITE_OK { log.pointee.frames.writeFailed() }
    return code
  }

  private static func closeLog(_ file: File?) -> Int32 {
    guard let file, let system else { return SQLITE_MISUSE }
    let written = writeHeldHeader(file, system)
    system.logState(of: file).pointee.free()
    let closed = system.systemLog.pointee.xClose(file)
    return written == SQLITE_OK ? closed : written
  }

  private static func afterHeldHeader(_ file: File?, _ body: (sqlite3_io_methods) -> Int32) -> Int32 {
    guard let file, let system else { return SQLITE_MISUSE }
    let code = writeHeldHeader(file, system)
    return code == SQLITE_OK ? body(system.systemLog.pointee) : code
  }

  private static func writeHeldHeader(_ file: File, _ system: System) -> Int32 {
    let log = system.logState(of: file)
    guard log.pointee.frames.interrupt(), let header = log.pointee.frame else { return SQLITE_OK }
    return system.systemLog.pointee.xWrite(file, header, Int32(LogFrames.headerBytes), log.pointee.headerOffset)
  }
}
