package import ChatPrimitives

/// One block, read, checked and decoded.
package struct Block: Sendable {
  package var first: LogPosition
  /// In order, dense, never empty.
  package var records: [LogRecord]
  /// Header, body and padding as they are in the file, in bytes.
  package var storedBytes: Int
  /// The records before compression, in bytes.
  package var rawBytes: Int
  package var codec: BlockCodec
  /// Name of the segment's file.
  package var segment: String
  /// Where the block begins in it, in bytes.
  package var offset: UInt64

  package var last: LogPosition { first.advanced(by: records.count - 1) }
}

/// Where a block is in its segment.
struct BlockPlace: Hashable {
  var first: LogPosition
  var last: LogPosition
  var offset: UInt64
  /// Header, body and padding.
  var bytes: Int
}
