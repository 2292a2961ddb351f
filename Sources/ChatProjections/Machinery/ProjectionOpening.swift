import ChatPrimitives
import GRDB
import Logging

/// Opens a projection's file. A file that does not match the log is moved aside and rebuilt.
struct ProjectionOpening {
  let projection: any Projection.Type
  var file: ProjectionFile
  let logIdentity: UUIDBytes
  let logger: Logger

  struct Opened {
    let pool: DatabasePool
    let checkpoints: BackgroundCheckpoints
    let position: LogPosition
    /// The file has no rows yet: it was just created, or no event has been applied to it.
    var isNew: Bool { position == .origin }
  }

  /// Opens the file, or creates it. The cost does not grow with the file. This detects anything that is not a regular
  /// file, a damaged header, a truncated file, and damage to the schema and the checkpoint. Other damage is detected
  /// when SQLite reads the page (`PageChecksums`).
  /// - Parameter head: the log's head. A file that is ahead of it does not belong to this log.
  func open(head: LogPosition) throws -> Opened {
    do {
      try file.requireRegular()
      if file.exists { return try openExisting(head) }
    } catch let error where ProjectionFault.Kind(following: error) == .damaged {
      try moveAside(because: "\(error)")
    }
    let pool = try file.openPool(projection)
    do {
      let checkpoint = try pool.write { database in
        try Self.createSchema(of: projection, logIdentity: logIdentity, database)
        try projection.createIndexes(database)
        return try Checkpoint.read(database)
      }
      return try opened(pool, at: checkpoint.position)
    } catch {
      try? pool.close()
      // Otherwise the next attempt would move this empty file aside and replace the damaged one that is kept for
      // inspection.
      try? file.remove()
      throw error
    }
  }

  /// Opens a file that must exist and match.
  func openComplete(head: LogPosition) throws -> Opened { try openExisting(head) }

  private func openExisting(_ head: LogPosition) throws -> Opened {
    guard try file.hasPageChecksums() != false else {
      throw ProjectionError(.damagedRow, "its header is damaged, or an earlier version made it", file: file.path)
    }
    let pool = try file.openPool(projection)
    do {
      let checkpoint = try pool.read(Checkpoint.read)
      try check(checkpoint, head)
      try checkSchema(pool)
      return try opened(pool, at: checkpoint.position)
    } catch {
      try? pool.close()
      throw error
    }
  }

  private func opened(_ pool: DatabasePool, at position: LogPosition) throws -> Opened {
    Opened(pool: pool, checkpoints: try file.backgroundCheckpoints(projection, of: pool), position: position)
  }

  private func check(_ checkpoint: Checkpoint, _ head: LogPosition) throws(ProjectionError) {
    guard checkpoint.logIdentity == logIdentity else {
      throw ProjectionError(
        .foreignFile, "it follows the log \(checkpoint.logIdentity.text), not \(logIdentity.text)", file: file.path)
    }
    guard checkpoint.position <= head else {
      throw ProjectionError(
        .foreignFile, "it has events up to \(checkpoint.position), but the log only up to \(head)", file: file.path,
        position: checkpoint.position)
    }
  }

  /// The tables and indexes must be those that this version creates.
  private func checkSchema(_ pool: DatabasePool) throws {
    let fresh = try DatabaseQueue()
    try fresh.write { database in
      try projection.prepare(database)
      try Self.createSchema(of: projection, logIdentity: logIdentity, database)
      try projection.createIndexes(database)
    }
    guard try pool.read(schema) == fresh.read(schema) else {
      throw ProjectionError(.damagedRow, "its tables are not those of this version", file: file.path)
    }
  }

  private func schema(_ database: Database) throws -> [String] {
    let rows = try CachedStatement(
      database,
      "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY name"
    ).all { (name: try $0.text(), sql: try $0.text()) }
    return rows.filter { projection.isFixed($0.name) }.map(\.sql)
  }

  /// No connection may have the file open.
  func moveAside(because reason: String) throws {
    let aside = try file.moveAside()
    logger.warning(
      "the file of a read model cannot be used: it was moved aside and is rebuilt from the log",
      metadata: [
        "projection": "\(projection.name)", "file": "\(file.path)", "aside": "\(aside.path)", "reason": "\(reason)",
      ])
  }

  static func createSchema(
    of projection: any Projection.Type, logIdentity: UUIDBytes, _ database: Database
  ) throws {
    try Checkpoint.createTable(database, logIdentity: logIdentity)
    try projection.createTables(database)
  }
}
