package import ChatDomain
package import GRDB

/// A read model: tables in its own SQLite file, derived only from the events.
///
/// The same events must produce the same rows however they were divided into batches. So no row may contain the current
/// time, a random number, or anything that depends on where a batch ended: `replay --verify` compares every row.
package protocol Projection: Sendable {
  associatedtype Queries: ReadModelQueries

  /// Part of the file's name.
  static var name: String { get }
  /// Part of the file's name. Raise it whenever a table changes; the server then builds a new file.
  static var schemaVersion: Int { get }
  /// Columns, as `table.column`, whose values no tool may print.
  static var secretColumns: Set<String> { get }

  /// How long events are collected for one transaction while no reader waits for them, in milliseconds. A reader that
  /// has to wait ends the delay.
  static var gatheringMilliseconds: Int { get }
  /// While events arrive quickly, they are collected in several such delays, until so many are waiting. A reader that arrives
  /// then has to wait until they are applied.
  static var gatheredEvents: Int { get }
  /// How long such delays take together at most, in milliseconds.
  static var longestGatheringMilliseconds: Int { get }
  /// How many batches of a rebuild are applied as one.
  static var joinedBatches: Int { get }

  /// Whether requests wait until it has applied all events that were durable when they arrived, and writes pause when
  /// it is too far behind. If not, the server becomes ready without it, and its queries return the position that it has
  /// reached.
  static var isAwaited: Bool { get }

  /// The tables with rows of rooms and workspaces that are deleted in steps: see `BulkDeletion`.
  static var bulkDeletedRows: [BulkDeletion.RowSet] { get }

  /// Whether the runner has to call `upkeep`.
  static var needsUpkeep: Bool { get }

  /// Prepares a connection to its file.
  static func prepare(_ database: Database) throws
  static func createTables(_ database: Database) throws
  /// In a rebuild, called after the rows are inserted, because that is much faster.
  static func createIndexes(_ database: Database) throws

  /// State that it keeps in memory between batches must be read from the file when it is first needed, not here.
  init()

  /// Applies the events to the tables. Called within a transaction that also moves the checkpoint. After an error, the
  /// transaction is rolled back and this value is discarded.
  mutating func apply(_ events: ArraySlice<RecordedEvent>, to database: Database) throws

  /// Applies the first of the events: as many as fit one transaction, and at least one. The default applies all of
  /// them; a projection overrides it if few events can make many rows.
  /// - Returns: how many events it applied.
  mutating func applyFirst(of events: ArraySlice<RecordedEvent>, to database: Database) throws -> Int

  /// Does one step of maintenance on the file that does not change the content of the rows. Called outside a
  /// transaction, on the thread that applies events.
  /// - Parameter isIdle: whether no events are waiting to be applied.
  mutating func upkeep(_ database: Database, isIdle: Bool) throws -> UpkeepOutcome

  /// Whether every file of this version has the table or index of that name. If not, it is created and dropped as the
  /// rows change.
  static func isFixed(_ table: String) -> Bool
  /// How a table is compared with the same table of a rebuilt file.
  static func comparison(of table: String) -> TableComparison
}

/// The result of one step of upkeep.
package enum UpkeepOutcome: Sendable {
  case done
  /// There is another step.
  case more
  /// There is another step, but it cannot be done yet.
  case blocked
}

/// The part of a table that depends only on the events.
package enum TableComparison: Sendable {
  /// All rows.
  case rows
  /// The rows of this query, which orders them by its first `key` columns.
  case selected(String, key: Int)
  /// All rows except those for which this condition is true.
  case except(String)
  /// All rows except those of rooms and workspaces that a bulk deletion is removing in either file.
  /// - also: a condition for other rows that are left out.
  case exceptCleared([BulkDeletion.ClearedOwner], also: String?)
  /// No rows.
  case none
}

extension Projection {
  static var gathersLongerInBursts: Bool { longestGatheringMilliseconds > gatheringMilliseconds }
  package static var secretColumns: Set<String> { [] }
  package static var gatheringMilliseconds: Int { 50 }
  package static var gatheredEvents: Int { 2_048 }
  package static var longestGatheringMilliseconds: Int { gatheringMilliseconds }
  package static var joinedBatches: Int { 1 }
  package static var isAwaited: Bool { true }
  package static var needsUpkeep: Bool { false }
  package static func prepare(_ database: Database) throws {}
  package mutating func applyFirst(of events: ArraySlice<RecordedEvent>, to database: Database) throws -> Int {
    try apply(events, to: database)
    return events.count
  }
  package mutating func upkeep(_ database: Database, isIdle: Bool) throws -> UpkeepOutcome { .done }
  package static func isFixed(_ table: String) -> Bool { true }
  package static var bulkDeletedRows: [BulkDeletion.RowSet] { [] }
  package static func comparison(of table: String) -> TableComparison {
    BulkDeletion.comparison(of: table, bulkDeletedRows)
  }
}

/// The queries on one read model, within one snapshot of its file.
package protocol ReadModelQueries {
  var database: Database { get }
  init(_ database: Database)
}

extension ReadModelQueries {
  /// The last event that this snapshot includes.
  package func checkpoint() throws -> Checkpoint { try Checkpoint.read(database) }
}
