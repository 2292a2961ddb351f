import EventLog
import Foundation
import GRDB
import GRDBSQLite

/// Puts a checksum at the end of each page of a read model's file, and checks it whenever SQLite reads the page.
///
/// SQLite detects a zeroed page of a table's b-tree, but neither a zeroed overflow page nor a flipped bit in a row.
/// With the checksum, a query that reads such a page fails with `SQLITE_IOERR_DATA` instead of returning wrong rows.
///
/// This is a VFS (<https://www.sqlite.org/vfs.html>): the system's own VFS, with a few of its file methods replaced.
/// SQLite itself checksums the pages in the write-ahead log; there, this VFS saves system calls, see `LogFrames`. A file
/// has page checksums if its header reserves `reservedBytes` at the end of each page; other files are read and written
/// unchanged.
enum PageChecksums {
  /// The length of the checksum: the CRC-32C of the rest of the page, XORed with the page's number. The cksumvfs
  /// extension uses eight bytes, so neither VFS treats the other's files as its own.
  static let reservedBytes = 4
  /// The error of a read whose checksum does not match.
  static let mismatch = ResultCode.SQLITE_IOERR_DATA

  /// SQLite's file header: <https://www.sqlite.org/fileformat2.html#the_database_header>.
  static let headerBytes = 100
  private static let reservedBytesOffset = 20
  private static let smallestPage = 512

  /// Makes this the VFS of every connection that is opened from now on. Only the first call does anything.
  static func register() throws {
    guard registration == SQLITE_OK else {
      throw DatabaseError(resultCode: ResultCode(rawValue: registration), message: "SQLite cannot use page checksums")
    }
  }

  /// Gives a new file page checksums. Call it before anything else on a connection.
  static func reserve(_ database: Database) throws {
    var bytes = Int32(reservedBytes)
    let code = sqlite3_file_control(database.sqliteConnection, "main", SQLITE_FCNTL_RESERVE_BYTES, &bytes)
    guard code == SQLITE_OK else {
      throw DatabaseError(resultCode: ResultCode(rawValue: code), message: "no bytes reserved for page checksums")
    }
  }

  /// Lets a connection read pages with a wrong checksum. Only for tools that inspect a file that someone has changed.
  static func unsafeSkip(_ database: Database) {
    _ = sqlite3_file_control(database.sqliteConnection, "main", skipControl, nil)
  }

  /// Makes a connection sync the file after each `SyncSteps.bytes` that it writes, so that no sync takes long.
  static func syncInSteps(_ database: Database) {
    _ = sqlite3_file_control(database.sqliteConnection, "main", syncInStepsControl, nil)
  }

  /// Whether a file with this header has page checksums.
  static func areReserved(in header: UnsafeRawBufferPointer) -> Bool {
    header.count >= headerBytes && header.starts(with: signature)
      && Int(header[reservedBytesOffset]) == reservedBytes
  }

  private static let signature = Array("SQLite format 3\0".utf8)

  // MARK: - The VFS

  /// Opcodes of `sqlite3_file_control`. Those above 100 belong to the VFS.
  private static let skipControl: Int32 = 0x4853
  private static let syncInStepsControl: Int32 = 0x4854

  /// The state of an open file, stored after the state of the system's VFS.
  fileprivate struct FileState {
    var hasChecksums = false
    var skipsMismatch = false
    /// Nil if SQLite alone decides when the file is synced.
    var syncSteps: SyncSteps?
  }

  /// The system's VFS, and the methods that replace those of its files.
  ///
  /// Unchecked: it never changes after its creation, and its pointers are valid for the life of the process.
  struct System: @unchecked Sendable {
    let vfs: UnsafeMutablePointer<sqlite3_vfs>
    /// For database files: the system's methods, and their replacements.
    let systemDatabase: UnsafePointer<sqlite3_io_methods>
    let ownDatabase: UnsafePointer<sqlite3_io_methods>
    /// The same for write-ahead logs.
    let systemLog: UnsafePointer<sqlite3_io_methods>
    let ownLog: UnsafePointer<sqlite3_io_methods>
    /// Where `FileState` or `LogState` is in the memory of an open file.
    let stateOffset: Int

    fileprivate func state(of file: File) -> UnsafeMutablePointer<FileState> {
      (UnsafeMutableRawPointer(file) + stateOffset).assumingMemoryBound(to: FileState.self)
    }

    func logState(of file: File) -> UnsafeMutablePointer<LogState> {
      (UnsafeMutableRawPointer(file) + stateOffset).assumingMemoryBound(to: LogState.self)
    }
  }

  /// Initialised before `registration` makes this VFS the default. Nil if SQLite has no VFS.
  static let system: System? = {
    guard let vfs = sqlite3_vfs_find(nil), let systemDatabase = methods(of: vfs, forFilesOf: SQLITE_OPEN_MAIN_DB),
      let systemLog = methods(of: vfs, forFilesOf: SQLITE_OPEN_WAL)
    else { return nil }
    var log = systemLog.pointee
    replaceLogMethods(&log)
    var database = systemDatabase.pointee
    // Version 3 adds memory-mapped reads, which would bypass the check.
    database.iVersion = min(database.iVersion, 2)
    database.xRead = { PageChecksums.read($0, $1, $2, $3) }
    database.xWrite = { PageChecksums.write($0, $1, $2, $3) }
    database.xFileControl = { PageChecksums.control($0, $1, $2) }
    let alignment = MemoryLayout<UInt64>.alignment
    let offset = (Int(vfs.pointee.szOsFile) + alignment - 1) / alignment * alignment
    return System(
      vfs: vfs, systemDatabase: systemDatabase, ownDatabase: allocated(database), systemLog: systemLog,
      ownLog: allocated(log), stateOffset: offset)
  }()

  /// Copies methods to memory that is never freed, because SQLite keeps the pointer.
  private static func allocated(_ methods: sqlite3_io_methods) -> UnsafePointer<sqlite3_io_methods> {
    let memory = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
    memory.initialize(to: methods)
    return UnsafePointer(memory)
  }

  private static let registration: Int32 = {
    SQLiteMemory.stopCounting()
    guard let system else { return SQLITE_ERROR }
    let vfs = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
    vfs.initialize(to: system.vfs.pointee)
    vfs.pointee.pNext = nil
    let stateBytes = max(MemoryLayout<FileState>.stride, MemoryLayout<LogState>.stride)
    vfs.pointee.szOsFile = Int32(system.stateOffset + stateBytes)
    vfs.pointee.zName = UnsafePointer(strdup("hansard-checksums"))
    vfs.pointee.xOpen = { PageChecksums.open($1, $2, $3, $4) }
    return sqlite3_vfs_register(vfs, 1)
  }()

  /// The methods of the system's VFS for files of one kind. They are the same for every such file, so they can be read
  /// from any file.
  /// - Parameter kind: one of the `SQLITE_OPEN_` flags that say what a file is for.
  private static func methods(
    of vfs: UnsafeMutablePointer<sqlite3_vfs>, forFilesOf kind: Int32
  ) -> UnsafePointer<sqlite3_io_methods>? {
    let memory = UnsafeMutableRawPointer.allocate(byteCount: Int(vfs.pointee.szOsFile), alignment: 16)
    defer { memory.deallocate() }
    memory.initializeMemory(as: UInt8.self, repeating: 0, count: Int(vfs.pointee.szOsFile))
    let file = memory.assumingMemoryBound(to: sqlite3_file.self)
    let flags = SQLITE_OPEN_READWRITE | kind
    guard vfs.pointee.xOpen(vfs, "/dev/null\0", file, flags, nil) == SQLITE_OK else { return nil }
    let methods = file.pointee.pMethods
    _ = methods?.pointee.xClose(file)
    return methods
  }

  typealias File = UnsafeMutablePointer<sqlite3_file>

  private static func open(
    _ name: UnsafePointer<CChar>?, _ file: File?, _ flags: Int32, _ outFlags: UnsafeMutablePointer<Int32>?
  ) -> Int32 {
    guard let system, let file else { return SQLITE_MISUSE }
    let code = system.vfs.pointee.xOpen(system.vfs, name, file, flags, outFlags)
    guard code == SQLITE_OK else { return code }
    if flags & SQLITE_OPEN_MAIN_DB != 0, file.pointee.pMethods == system.systemDatabase {
      system.state(of: file).initialize(to: FileState())
      file.pointee.pMethods = system.ownDatabase
    } else if flags & SQLITE_OPEN_WAL != 0, file.pointee.pMethods == system.systemLog {
      system.logState(of: file).initialize(to: LogState())
      file.pointee.pMethods = system.ownLog
    }
    return code
  }

  /// Reads without verifying the checksum. On a disk error, the system's VFS returns `SQLITE_IOERR_CORRUPTFS`, which
  /// SQLite reports as a damaged database. The file may be intact, so this returns `SQLITE_IOERR_READ` instead, and the
  /// read is tried again.
  static func readWithoutChecksum(
    _ methods: UnsafePointer<sqlite3_io_methods>, _ file: File?, _ buffer: UnsafeMutableRawPointer?, _ count: Int32,
    _ offset: sqlite3_int64
  ) -> Int32 {
    let code = methods.pointee.xRead(file, buffer, count, offset)
    return code == ResultCode.SQLITE_IOERR_CORRUPTFS.rawValue ? ResultCode.SQLITE_IOERR_READ.rawValue : code
  }

  private static func read(
    _ file: File?, _ buffer: UnsafeMutableRawPointer?, _ count: Int32, _ offset: sqlite3_int64
  ) -> Int32 {
    guard let file, let buffer, let system else { return SQLITE_MISUSE }
    let code = readWithoutChecksum(system.systemDatabase, file, buffer, count, offset)
    guard code == SQLITE_OK else { return code }
    let bytes = UnsafeRawBufferPointer(start: buffer, count: Int(count))
    if offset == 0, count >= headerBytes { system.state(of: file).pointee.hasChecksums = areReserved(in: bytes) }
    let state = system.state(of: file).pointee
    guard state.hasChecksums, !state.skipsMismatch, isPage(count, offset) else { return code }
    let end = Int(count) - reservedBytes
    return bytes.loadUnaligned(fromByteOffset: end, as: UInt32.self) == checksum(bytes, at: offset)
      ? code : mismatch.rawValue
  }

  /// SQLite does not use the reserved bytes of its buffer, so the checksum can be written there. The cksumvfs extension
  /// does the same.
  private static func write(
    _ file: File?, _ buffer: UnsafeRawPointer?, _ count: Int32, _ offset: sqlite3_int64
  ) -> Int32 {
    guard let file, let buffer, let system else { return SQLITE_MISUSE }
    let bytes = UnsafeRawBufferPointer(start: buffer, count: Int(count))
    if offset == 0, count >= headerBytes { system.state(of: file).pointee.hasChecksums = areReserved(in: bytes) }
    if system.state(of: file).pointee.hasChecksums, isPage(count, offset) {
      UnsafeMutableRawPointer(mutating: buffer).storeBytes(
        of: checksum(bytes, at: offset), toByteOffset: Int(count) - reservedBytes, as: UInt32.self)
    }
    let code = system.systemDatabase.pointee.xWrite(file, buffer, count, offset)
    guard code == SQLITE_OK, system.state(of: file).pointee.syncSteps?.wrote(Int(count)) == true else { return code }
    return system.systemDatabase.pointee.xSync(file, SQLITE_SYNC_NORMAL | SQLITE_SYNC_DATAONLY)
  }

  private static func control(_ file: File?, _ operation: Int32, _ argument: UnsafeMutableRawPointer?) -> Int32 {
    guard let file, let system else { return SQLITE_MISUSE }
    switch operation {
    case skipControl: system.state(of: file).pointee.skipsMismatch = true
    case syncInStepsControl: system.state(of: file).pointee.syncSteps = SyncSteps()
    default: return system.systemDatabase.pointee.xFileControl(file, operation, argument)
    }
    return SQLITE_OK
  }

  /// SQLite reads and writes whole pages, except for a few bytes of the file's header.
  private static func isPage(_ count: Int32, _ offset: sqlite3_int64) -> Bool {
    count >= smallestPage && count.nonzeroBitCount == 1 && offset % sqlite3_int64(count) == 0
  }

  private static func checksum(_ page: UnsafeRawBufferPointer, at offset: sqlite3_int64) -> UInt32 {
    let content = CRC32C.of(UnsafeRawBufferPointer(rebasing: page.dropLast(reservedBytes)))
    // The page number detects a page that was written to another page's place. A page of zeros never has the right
    // checksum.
    return content ^ UInt32(truncatingIfNeeded: offset / sqlite3_int64(page.count))
  }
}
