public import ChatDomain
public import ChatPrimitives
public import EventLog

/// The size of the records, before compression, after which reading events from a log stops, in bytes: a few thousand
/// of the longest messages must not take the memory of as many short ones.
private let maximumReadBytes = 16 * 1024 * 1024

extension BlockSource {
  /// Reads and decodes the events that follow `position`, in whole blocks, until there are about `limit`, or sixteen MiB
  /// of them.
  /// - Parameter erasedReplies: keep it for the next call.
  /// - Throws: `LogError` for a damaged block; `CodecError` for a record that this version cannot read.
  package func decodedEvents(
    after position: LogPosition, through last: LogPosition, limit: Int, _ erasedReplies: ErasedReplies = ErasedReplies()
  ) throws -> [RecordedEvent] {
    var events: [RecordedEvent] = []
    var next = position.next
    var bytes = 0
    while next <= last, events.count < limit, bytes < maximumReadBytes {
      let block = try block(containing: next)
      bytes += block.rawBytes
      for record in block.records where record.position >= next && record.position <= last {
        events.append(try erasedReplies.restored(try EventCodec.decode(record), from: record, in: self))
      }
      next = block.last.next
    }
    return events
  }
}

/// The events of a log that this process does not write. The tools read it, even while a server is running.
package final class StoredEvents: EventFeed {
  private let source: any BlockSource
  private let erasedReplies = ErasedReplies()
  /// The last position to read. It is fixed at creation, so that a tool sees a single state of the log.
  package let head: LogPosition

  package init(_ source: any BlockSource) {
    self.source = source
    head = source.head
  }

  package func events(after position: LogPosition, limit: Int) throws -> [RecordedEvent] {
    try source.decodedEvents(after: position, through: head, limit: limit, erasedReplies)
  }

  package func waitForHead(beyond position: LogPosition) -> Bool {
    head > position
  }
}
