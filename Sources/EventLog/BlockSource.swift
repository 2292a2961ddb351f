package import ChatPrimitives

/// Where durable blocks are read from. Safe to use from any thread; reading blocks it for as long as the disk takes.
package protocol BlockSource: AnyObject, Sendable {
  var identity: LogIdentity { get }
  /// The last durable position; `LogPosition.origin` while the log is empty.
  var head: LogPosition { get }
  /// The block that holds a position.
  /// - Throws: `log_out_of_range` when the position is not in 1...head; `log_corrupt` with file, offset and position
  ///   when the block is damaged; `log_io`.
  func block(containing position: LogPosition) throws(LogError) -> Block
  /// Where records of a stream can stand, from `position` on as far as one look tells.
  /// - Throws: as `block(containing:)`.
  func streamPlaces(of stream: UUIDBytes, from position: LogPosition) throws(LogError) -> StreamPlaces
  /// A position before which every record is earlier than `time`, and near to the first that is not; behind the head
  /// when all are earlier.
  /// - Throws: as `block(containing:)`.
  func start(notBefore time: Timestamp) throws(LogError) -> LogPosition
}

/// A source without an index has to be looked through.
extension BlockSource {
  package func streamPlaces(of stream: UUIDBytes, from position: LogPosition) throws(LogError) -> StreamPlaces {
    StreamPlaces(lookingAt: position)
  }

  package func start(notBefore time: Timestamp) throws(LogError) -> LogPosition {
    .first
  }
}

/// Where blocks are appended. One writer, on one thread at a time; readers from any thread.
package protocol BlockStore: BlockSource {
  /// Recorded time of the last durable record; `Timestamp.earliest` in an empty log.
  var lastTime: Timestamp { get }
  /// Writes the block that follows the head. When it returns, the block is durable and the head has moved.
  /// - Throws: `log_poisoned` and the first failure itself (`log_io`, `log_full_disk`) when nothing can be appended
  ///   any more; `log_out_of_order`, `log_invalid_record`, `log_closed`, `log_busy` for a call that changed nothing.
  func append(_ block: BlockBuilder) throws(LogError)
  /// Tells that the writer has nothing to do: the durable position is written down. Does nothing when nothing changed.
  func noteIdle() throws(LogError)
  /// Writes the durable position down and releases the directory. Does nothing the second time.
  func close() throws(LogError)
}
