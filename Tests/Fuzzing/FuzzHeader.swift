import ChatPrimitives

@testable import EventLog

/// Tries a block header and a superblock: the input unchanged, then with the length, magic number, version and checksum
/// corrected.
func fuzzHeader(_ input: [UInt8]) {
  parseHeader(input)
  var block = input.resized(to: LogFormat.blockHeaderBytes)
  block.write(LogFormat.blockMagic, at: 0)
  block.fixChecksum(at: BlockHeader.checksumOffset)
  parseHeader(block)
  block.write(LogFormat.version, at: 4)
  block.write(UInt16(0), at: 6)
  block.write(UInt64(0), at: 52)
  block.fixChecksum(at: BlockHeader.checksumOffset)
  parseHeader(block)

  var superblock = input.resized(to: LogFormat.superblockBytes)
  parseSuperblock(superblock)
  superblock.write(LogFormat.superblockMagic, at: 0)
  superblock.fixChecksum(at: Superblock.checksumOffset)
  parseSuperblock(superblock)
}

private func parseHeader(_ bytes: [UInt8]) {
  guard let header = try? BlockHeader(parsing: bytes.span.bytes) else { return }
  var again = [UInt8](repeating: 0xff, count: LogFormat.blockHeaderBytes)
  let checksum = again.withUnsafeMutableBytes { header.encode(into: $0) }
  demand(again == bytes, "a block header that parses encodes to the same bytes")
  demand(checksum == BlockHeader.checksum(in: bytes.span.bytes), "encode returns the checksum")
  demand(header.rawBytes <= LogFormat.maximumRawBytes, "a raw length is within its limit")
  demand(header.storedBytes <= header.rawBytes, "a stored length is at most the raw one")
  demand(header.frameBytes % LogFormat.blockAlignment == 0, "a frame ends at a multiple of 8")
  demand(header.knownDurable < header.first && header.last.next == header.next, "positions are in order")
}

private func parseSuperblock(_ bytes: [UInt8]) {
  guard let superblock = try? Superblock(parsing: bytes.span.bytes) else { return }
  demand(superblock.encoded() == bytes, "a superblock that parses encodes to the same bytes")
}
