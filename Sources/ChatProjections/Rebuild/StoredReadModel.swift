package import ChatPrimitives
import GRDB

/// Reads the file of a read model in another process than the server's, beside a running server or without one.
package enum StoredReadModel {
  /// - Parameters:
  ///   - directory: the folder of read models.
  ///   - body: its queries see one state of the file.
  /// - Returns: what `body` returns, and the last event that this state includes.
  /// - Throws: `projection_missing_file` if the file does not exist, `projection_foreign_file` if it follows another log.
  package static func read<P: Projection, Value>(
    _ projection: P.Type, in directory: String, logIdentity: UUIDBytes, _ body: (P.Queries) throws -> Value
  ) throws -> (value: Value, position: LogPosition) {
    let file = ProjectionFile(projection, in: directory)
    guard file.exists else {
      throw ProjectionError(.missingFile, "the read model \(P.name) has no file", file: file.path)
    }
    try file.requireRegular()
    let queue = try file.openReadOnly(projection)
    defer { try? queue.close() }
    return try queue.read { database in
      let checkpoint = try Checkpoint.read(database)
      guard checkpoint.logIdentity == logIdentity else {
        throw ProjectionError(.foreignFile, "the read model \(P.name) follows another log", file: file.path)
      }
      return (try body(P.Queries(database)), checkpoint.position)
    }
  }
}
