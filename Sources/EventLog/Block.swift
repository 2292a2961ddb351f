package import ChatPrimitives

/// A block that was read, checked and decoded.
package struct Block: Sendable {
  package var first: LogPosition
  /// The block's records in order, without gaps; never empty.
  package var records: [LogRecord]
  /// The length of header, body and padding in the file, in bytes.
  package var storedBytes: Int
  /// The length of the records before compression, in bytes.
  package var rawBytes: Int
  package var codec: BlockCodec
  /// The name of the segment's file.
  package var segment: String
  /// The offset in that file at which the block begins, in bytes.
  package var offset: UInt64

  package var last: LogPosition { first.advanced(by: records.count - 1) }
}

/// The location of a block in its segment.
struct BlockLocation: Hashable {
  var first: LogPosition
  var last: LogPosition
  var offset: UInt64
  /// The length of header, body and padding.
  var bytes: Int
}
