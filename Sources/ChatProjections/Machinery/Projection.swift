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

  static func createTables(_ database: Database) throws
  /// Made after the rows in a rebuild, where that is much faster.
  static func createIndexes(_ database: Database) throws

  /// What it keeps in memory between batches, if anything, is read from the file when it is first needed.
  init()

  /// Writes what the events mean. Called within a transaction, which also moves the checkpoint; after an error the
  /// transaction is rolled back and this value is not used again.
  mutating func apply(_ events: ArraySlice<RecordedEvent>, to database: Database) throws
}

extension Projection {
  package static var secretColumns: Set<String> { [] }
  package static var gatheringMilliseconds: Int { 50 }
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
