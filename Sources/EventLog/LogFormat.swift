package import ChatPrimitives

/// The constants of `docs/log-format.md`. All integers in the files are little-endian.
package enum LogFormat {
  /// The format version in every header.
  package static let version: UInt8 = 1

  // MARK: Sizes, in bytes

  /// The length of a segment's header.
  package static let segmentHeaderBytes = 4096
  /// The length of a block's header.
  package static let blockHeaderBytes = 64
  /// Blocks start at multiples of this.
  package static let blockAlignment = 8
  /// The length of one copy of the superblock.
  package static let superblockBytes = 512
  /// The distance between the two copies of the superblock: one page, so that no write touches both.
  package static let superblockStride = 4096
  /// The header of a record: its length, form, a reserved byte and the length of the envelope.
  package static let recordHeaderBytes = 8
  /// The length of the digest that replaces an erased payload (SHA-256).
  package static let digestBytes = 32
  /// The length of a record's own salt.
  package static let saltBytes = 16
  /// The length of one Merkle peak (SHA-256).
  package static let merklePeakBytes = 32

  // MARK: Limits

  /// The maximum size of one block's records before compression, in bytes.
  package static let maximumRawBytes = 4 * 1024 * 1024
  /// The maximum size of one payload, in bytes.
  package static let maximumPayloadBytes = 1024 * 1024
  /// The maximum number of records in a sealed block.
  package static let maximumBlockRecords = 65_536
  /// The maximum size of a sealed segment's LZ4 dictionary, in bytes: LZ4 does not refer back further.
  package static let maximumDictionaryBytes = 64 * 1024
  /// The maximum ratio of a section's raw length to its stored length: LZ4 cannot compress better.
  package static let maximumSectionRatio = 255
  /// The maximum number of Merkle peaks in a segment's header: one for each bit of a position.
  package static let maximumMerklePeaks = 64
  /// The minimum length of a segment, in bytes: its header and space for one small block.
  package static let minimumSegmentBytes = segmentHeaderBytes + 512
  /// The maximum length of a segment, in bytes. Offsets in a segment fit 32 bits.
  package static let maximumSegmentBytes = 1024 * 1024 * 1024
  /// The maximum position. It is low enough that adding a block's count never overflows.
  package static let maximumPosition = LogPosition(1 << 62)

  // MARK: Magic numbers, as they appear in a hex dump

  static let segmentMagic: UInt64 = magic("HANSARDS")
  static let superblockMagic: UInt64 = magic("HANSARDB")
  static let blockMagic: UInt32 = 0x4B4C_4248  // "HBLK"

  private static func magic(_ text: StaticString) -> UInt64 {
    text.withUTF8Buffer { bytes in
      bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
  }

  /// Rounds up to a multiple of the block alignment.
  static func aligned(_ bytes: Int) -> Int {
    (bytes + blockAlignment - 1) / blockAlignment * blockAlignment
  }
}
