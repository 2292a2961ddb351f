import GRDBSQLite
import Synchronization

/// Counts the steps of SQLite's virtual machine for the files of a folder, on whatever connections and threads the
/// statements run.
struct SQLiteSteps: Sendable {
  private let folder: String

  private static let counts = Mutex<[String: Int]>([:])

  /// SQLite calls this for each new connection.
  private static let isInstalled: Bool = {
    typealias Entry = @convention(c) (OpaquePointer?, OpaquePointer?, OpaquePointer?) -> Int32
    let entry: Entry = { database, _, _ in
      sqlite3_trace_v2(
        database, UInt32(SQLITE_TRACE_PROFILE),
        { _, _, statement, _ in
          if let statement { SQLiteSteps.count(OpaquePointer(statement)) }
          return SQLITE_OK
        }, nil)
    }
    // SQLite passes the arguments above, although the parameter has another type
    // (https://www.sqlite.org/c3ref/auto_extension.html).
    return sqlite3_auto_extension(unsafeBitCast(entry, to: (@convention(c) () -> Void).self)) == SQLITE_OK
  }()

  /// Call it before the files are opened.
  init(folder: String) {
    precondition(Self.isInstalled)
    self.folder = folder
  }

  /// A statement has ended.
  private static func count(_ statement: OpaquePointer) {
    let steps = Int(sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, 1))
    guard let name = sqlite3_db_filename(sqlite3_db_handle(statement), "main") else { return }
    counts.withLock { $0[String(cString: name), default: 0] += steps }
  }

  private var total: Int {
    Self.counts.withLock { counts in
      counts.reduce(0) { $1.key.hasPrefix(folder) ? $0 + $1.value : $0 }
    }
  }

  /// The steps while `body` runs. Nothing else must use the files.
  func count<T>(_ body: () async throws -> T) async throws -> (result: T, steps: Int) {
    let before = total
    let result = try await body()
    return (result, total - before)
  }
}
