package import ChatPrimitives

/// The bodies of a whole log as they are stored, in memory: what decoding alone costs, to measure a scan by.
package struct LoadedBodies: Sendable {
  private struct Body: Sendable {
    var codec: BlockCodec
    var stored: [UInt8]
    var rawBytes: Int
    /// Of the segment, when it is sealed.
    var dictionary: [UInt8]
  }

  private var bodies: [Body] = []
  /// The bodies before compression, in bytes.
  package private(set) var rawBytes = 0
  /// The bodies as they are held, in bytes.
  package private(set) var storedBytes = 0

  /// Reads and checks every block.
  /// - Throws: as `BlockSource.block(containing:)`.
  package init(_ reader: LogReader) throws(LogError) {
    var position = LogPosition.first
    while position <= reader.head {
      let segment = try reader.catalog.opened(position)
      guard let place = segment.index.place(of: position) else {
        throw LogError(
          FormatFlaw("no block of the segment contains the position"),
          at: .init(file: segment.file.name, position: position))
      }
      let (header, stored) = try segment.storedBody(place)
      rawBytes += header.rawBytes
      storedBytes += stored.count
      bodies.append(
        Body(
          codec: header.codec, stored: stored, rawBytes: header.rawBytes,
          dictionary: segment.tables?.dictionary ?? []))
      position = place.last.next
    }
  }

  /// How many there are.
  package var count: Int { bodies.count }

  /// Decodes each into one buffer, which is used again for the next.
  /// - Returns: how many bytes that gave.
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
