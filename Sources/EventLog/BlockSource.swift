package import ChatPrimitives

/// A source of durable blocks. It can be used from any thread; a read blocks the thread for as long as the disk takes.
package protocol BlockSource: AnyObject, Sendable {
  var identity: LogIdentity { get }
  /// The last durable position; `LogPosition.origin` while the log is empty.
  var head: LogPosition { get }
  /// Reads the block that holds a position.
  /// - Throws: `log_out_of_range` if the position is not in 1...head; `log_corrupt` with file, offset and position if
  ///   the block is damaged; `log_io`.
  func block(containing position: LogPosition) throws(LogError) -> Block
  /// Finds where records of a stream can be, from `position` as far as one index lookup reaches.
  /// - Throws: the errors of `block(containing:)`.
  func candidateBlocks(of stream: UUIDBytes, from position: LogPosition) throws(LogError) -> CandidateBlocks
  /// Finds a position close to the first record at or after `time`. All records before the position are earlier than
  /// `time`. Returns the position after the head if all records are earlier.
  /// - Throws: the errors of `block(containing:)`.
  func start(notBefore time: Timestamp) throws(LogError) -> LogPosition
}

/// Defaults for a source without an index: every block has to be read.
extension BlockSource {
  package func candidateBlocks(of stream: UUIDBytes, from position: LogPosition) throws(LogError) -> CandidateBlocks {
    CandidateBlocks(reading: position)
  }

  package func start(notBefore time: Timestamp) throws(LogError) -> LogPosition {
    .first
  }
}

/// A store to which blocks are appended. It has one writer, on one thread at a time; any thread can read.
package protocol BlockStore: BlockSource {
  /// The recorded time of the last durable record; `Timestamp.earliest` in an empty log.
  var lastTime: Timestamp { get }
  /// Writes the block that follows the head. When the call returns, the block is durable and the head has advanced.
  /// - Throws: the first failure itself (`log_io`, `log_full_disk`), and `log_poisoned` for every append after it;
  ///   `log_out_of_order`, `log_invalid_record`, `log_closed` or `log_busy` if the call changed nothing.
  func append(_ block: BlockBuilder) throws(LogError)
  /// Tells the store that the writer is idle. The store then saves the durable position if it has changed.
  func noteIdle() throws(LogError)
  /// Saves the durable position and releases the directory. A second call does nothing.
  func close() throws(LogError)
}
