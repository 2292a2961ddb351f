package import ChatDomain
package import GRDB

/// A read model: tables in an SQLite file of its own, derived from the events and from nothing else.
///
/// The same events must give the same rows however they were cut into batches, so no row may hold the time of the
/// clock, a random number, or anything that depends on where a batch ended: `replay --verify` compares every row.
package protocol Projection: Sendable {
  associatedtype Queries: ReadModelQueries

  /// Part of the file's name.
  static var name: String { get }
  /// Part of the file's name: raise it whenever a table changes, and the file is built anew.
  static var schemaVersion: Int { get }
  /// Columns, as `table.column`, whose values no tool may print.
  static var secretColumns: Set<String> { get }

  /// How long events are gathered into one transaction while nobody waits for them, in milliseconds. A reader that has
  /// to wait cuts it short.
  static var gatheringMilliseconds: Int { get }

  /// Whether requests wait until it has applied what was durable when they came in, and writes pause when it is too far
  /// behind. If not, the server is ready without it, and its queries respond with the position that it has reached.
  static var isAwaited: Bool { get }

  /// Where rows stand of what can be deleted as a whole: see `BulkDeletion`.
  static var bulkDeletedRows: [BulkDeletion.RowSet] { get }

  /// Whether `upkeep` is to be called.
  static var needsUpkeep: Bool { get }

  /// Readies a connection to its file.
  static func prepare(_ database: Database) throws
  static func createTables(_ database: Database) throws
  /// Made after the rows in a rebuild, where that is much faster.
  static func createIndexes(_ database: Database) throws

  /// What it keeps in memory between batches, if anything, is read from the file when it is first needed.
  init()

  /// Writes what the events mean. Called within a transaction, which also moves the checkpoint; after an error the
  /// transaction is rolled back and this value is not used again.
  mutating func apply(_ events: ArraySlice<RecordedEvent>, to database: Database) throws

  /// Writes what the first of the events mean, as many as one transaction should hold, and at least one: all of them,
  /// unless a projection makes many rows of few events.
  /// - Returns: how many.
  mutating func applyFirst(of events: ArraySlice<RecordedEvent>, to database: Database) throws -> Int

  /// Does one step of what is left to do to the file and changes nothing that the rows say. Called outside a transaction,
  /// on the thread that applies.
  /// - Parameter isIdle: no event waits to be applied.
  mutating func upkeep(_ database: Database, isIdle: Bool) throws -> UpkeepOutcome

  /// Whether every file of this version has the table, or index, of that name; others come and go with the rows.
  static func isFixed(_ table: String) -> Bool
  /// How a table is compared with the same of a rebuilt file.
  static func comparison(of table: String) -> TableComparison
}

/// What became of a step of upkeep.
package enum UpkeepOutcome: Sendable {
  case done
  /// There is another step.
  case more
  /// There is another step, for which it is too early.
  case blocked
}

/// What of a table depends on the events alone.
package enum TableComparison: Sendable {
  /// Every row.
  case rows
  /// The rows of this query. They come in the order of its first columns, as many as `key` says.
  case selected(String, key: Int)
  /// Every row but those for which this condition holds.
  case except(String)
  /// Nothing.
  case none
}

extension Projection {
  package static var secretColumns: Set<String> { [] }
  package static var gatheringMilliseconds: Int { 50 }
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

/// What can be asked of one read model, within one snapshot of its file.
package protocol ReadModelQueries {
  var database: Database { get }
  init(_ database: Database)
}

extension ReadModelQueries {
  /// The last event that the rows of this snapshot know of.
  package func checkpoint() throws -> Checkpoint { try Checkpoint.read(database) }
}
