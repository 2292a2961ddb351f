import ChatDomain
import EventStore

extension RowReader {
  /// A message's details; nil if it has only text.
  mutating func optionalDetails() throws -> MessageDetails? {
    try optional { row in
      let bytes = try row.bytes()
      do {
        return try DetailsCodec.decode(bytes)
      } catch {
        throw ProjectionError(.damagedRow, "a message's details cannot be read: \(error); rebuild this projection")
      }
    }
  }
}
