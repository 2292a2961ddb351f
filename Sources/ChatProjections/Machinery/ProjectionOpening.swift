import ChatPrimitives
import GRDB
import Logging

/// How a projection's file is opened: what does not fit the log is put aside and built anew.
struct ProjectionOpening {
  let projection: any Projection.Type
  let file: ProjectionFile
  let logIdentity: UUIDBytes
  let head: LogPosition
  let logger: Logger

  func open() throws -> (pool: DatabasePool, checkpoint: Checkpoint) {
    if file.exists {
      do {
        return try openExisting()
      } catch let error as DatabaseError where Self.isDamage(error) {
        try putAside(because: "SQLite says: \(error)")
      } catch let error as ProjectionError where error.code == .foreignFile || error.code == .damagedRow {
        try putAside(because: error.message)
      }
    }
    let pool = try file.openPool(projection)
    let checkpoint = try pool.write { database in
      try Self.createSchema(of: projection, logIdentity: logIdentity, database)
      try projection.createIndexes(database)
      return try Checkpoint.read(database)
    }
    return (pool, checkpoint)
  }

  private func openExisting() throws -> (pool: DatabasePool, checkpoint: Checkpoint) {
    let pool = try file.openPool(projection)
    do {
      let checkpoint = try pool.read(Checkpoint.read)
      try check(checkpoint)
      try checkSchema(pool)
      return (pool, checkpoint)
    } catch {
      try pool.close()
      throw error
    }
  }

  private func check(_ checkpoint: Checkpoint) throws(ProjectionError) {
    guard checkpoint.logIdentity == logIdentity else {
      throw ProjectionError(
        .foreignFile, "it follows the log \(checkpoint.logIdentity.text), not \(logIdentity.text)", file: file.path)
    }
    guard checkpoint.position <= head else {
      throw ProjectionError(
        .foreignFile, "it knows of events up to \(checkpoint.position), the log of \(head)", file: file.path,
        position: checkpoint.position)
    }
  }

  /// The tables and indexes must be those that this version makes.
  private func checkSchema(_ pool: DatabasePool) throws {
    let fresh = try DatabaseQueue()
    try fresh.write { database in
      try projection.prepare(database)
      try Self.createSchema(of: projection, logIdentity: logIdentity, database)
      try projection.createIndexes(database)
    }
    guard try pool.read(schema) == fresh.read(schema) else {
      throw ProjectionError(.damagedRow, "its tables are not those that this version makes", file: file.path)
    }
  }

  private func schema(_ database: Database) throws -> [String] {
    let rows = try CachedStatement(
      database,
      "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY name"
    ).all { (name: try $0.text(), sql: try $0.text()) }
    return rows.filter { projection.isFixed($0.name) }.map(\.sql)
  }

  private func putAside(because reason: String) throws {
    let aside = try file.moveAside()
    logger.warning(
      "a read model does not fit the log: it was moved aside and is built anew",
      metadata: [
        "projection": "\(projection.name)", "file": "\(file.path)", "aside": "\(aside.path)", "reason": "\(reason)",
      ])
  }

  /// Damage, and the file of a creation that a crash cut off, which has no tables yet.
  private static func isDamage(_ error: DatabaseError) -> Bool {
    let code = error.resultCode
    return code == .SQLITE_CORRUPT || code == .SQLITE_NOTADB || code == .SQLITE_ERROR
  }

  static func createSchema(
    of projection: any Projection.Type, logIdentity: UUIDBytes, _ database: Database
  ) throws {
    try Checkpoint.createTable(database, logIdentity: logIdentity)
    try projection.createTables(database)
  }
}
