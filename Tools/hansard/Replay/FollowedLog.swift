import ChatDomain
import ChatPrimitives
import EventLog
import EventStore
import Foundation

/// The events of a log to which a server may be writing. The head advances as the files show more durable events.
final class FollowedLog: EventFeed {
  /// The time between two checks of the files, in seconds.
  private static let interval = 0.02
  /// How long to wait for the head to advance, in seconds. A server records what is durable with the next block, or
  /// when it becomes idle.
  private static let maximumWait = 10.0

  private let reader: LogReader
  private let erasedReplies = ErasedReplies()

  init(_ reader: LogReader) {
    self.reader = reader
  }

  var head: LogPosition {
    // An error occurs again when the blocks are read, and is reported there.
    try? reader.refresh()
    return reader.head
  }

  func events(after position: LogPosition, limit: Int) throws -> [RecordedEvent] {
    try reader.decodedEvents(after: position, through: reader.head, limit: limit, erasedReplies)
  }

  func waitForHead(beyond position: LogPosition) -> Bool {
    let end = Date(timeIntervalSinceNow: Self.maximumWait)
    while head <= position {
      guard Date() < end else { return false }
      Thread.sleep(forTimeInterval: Self.interval)
    }
    return true
  }
}
