package import ChatPrimitives

/// All block bodies of a log in memory, as they are stored. Used to measure the cost of decoding without that of
/// reading.
package struct LoadedBodies: Sendable {
  private struct Body: Sendable {
    var codec: BlockCodec
    var stored: [UInt8]
    var rawBytes: Int
    /// The dictionary of the segment if it is sealed.
    var dictionary: [UInt8]
  }

  private var bodies: [Body] = []
  /// The size of the bodies before compression, in bytes.
  package private(set) var rawBytes = 0
  /// The size of the bodies as stored, in bytes.
  package private(set) var storedBytes = 0

  /// Reads and checks every block.
  /// - Throws: the errors of `BlockSource.block(containing:)`.
  package init(_ reader: LogReader) throws(LogError) {
    var position = LogPosition.first
    while position <= reader.head {
      let segment = try reader.catalog.opened(position)
      guard let location = segment.index.location(of: position) else {
        throw LogError(
          FormatFlaw("no block of the segment contains the position"),
          at: .init(file: segment.file.name, position: position))
      }
      let (header, stored) = try segment.storedBody(location)
      rawBytes += header.rawBytes
      storedBytes += stored.count
      bodies.append(
        Body(
          codec: header.codec, stored: stored, rawBytes: header.rawBytes,
          dictionary: segment.tables?.dictionary ?? []))
      position = location.last.next
    }
  }

  /// The number of bodies.
  package var count: Int { bodies.count }

  /// Decodes every body, one after the other, into the same buffer.
  /// - Returns: the number of bytes decoded.
  package func decodeAll() throws(LogError) -> Int {
    let room = UnsafeMutableRawBufferPointer.allocate(
      byteCount: bodies.reduce(0) { max($0, $1.rawBytes) }, alignment: 8)
    defer { room.deallocate() }
    var decoded = 0
    do throws(FormatFlaw) {
      for body in bodies {
        try body.codec.decode(
          body.stored.span.bytes, into: UnsafeMutableRawBufferPointer(rebasing: room[..<body.rawBytes]),
          dictionary: body.dictionary)
        decoded += body.rawBytes
      }
    } catch {
      throw LogError(error, at: .init(file: "memory"))
    }
    return decoded
  }
}
