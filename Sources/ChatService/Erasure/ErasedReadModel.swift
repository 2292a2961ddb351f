package import ChatPrimitives

/// A read model that is not in `ReadModels` but can contain what deleted users wrote: the push outbox. An erasure waits
/// for it too.
package protocol ErasedReadModel: Sendable {
  /// Returns when it has applied `position`.
  /// - Throws: if it does not within the timeout.
  func waitUntilApplied(_ position: LogPosition, timeoutMilliseconds: Int) async throws
  /// Truncates the write-ahead log of its file, which contains earlier versions of the rows.
  /// - Returns: false if a reader or a rebuild prevented it. Call it again.
  func emptyWriteAheadLog() async throws -> Bool
}
