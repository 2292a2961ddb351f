package import ChatDomain
package import ChatPrimitives
import ChatProjections
package import EventStore
import GRDB

/// Who was told of one message and why nobody else was, found out from the log alone, however long ago it was.
package struct PushExplanation: Sendable, Hashable {
  /// How many events are read at once.
  private static let batchEvents = 4096

  package let message: FanOut.SentMessage
  /// For each device, as of that message, of everyone who was, had been or came to be a member.
  package let verdicts: [FanOut.DeviceVerdict]

  /// Reads the log from its first event to its head, into memory: the rooms' state up to the message, and after it who
  /// joined the room later.
  ///
  /// - Parameter progress: told how many events were read.
  /// - Throws: `PushExplanationError`, or what the log says.
  package init(
    of position: LogPosition, in feed: any EventFeed, progress: (UInt64) -> Void = { _ in }
  ) throws {
    let queue = try DatabaseQueue()
    let found: (message: FanOut.SentMessage, verdicts: [FanOut.DeviceVerdict])? = try queue.write { database in
      try PushProjection.createTables(database)
      try PushProjection.createIndexes(database)
      guard let message = try Self.apply(through: position, of: feed, to: database, progress) else { return nil }
      let audience = AudienceWriter(database)
      var candidates = try audience.listeners(of: message.room) + audience.formerMembers(of: message.room)
      let known = Set(candidates.map(\.user))
      let later = try Self.laterMembers(of: message.room, after: position, in: feed, progress)
      for user in later.subtracting(known).sorted() {
        candidates.append(
          FanOut.Candidate(user: user, membership: .joinsLater, devices: try audience.devices(of: user)))
      }
      let rooms = RoomsQueries(database)
      return (
        message,
        try FanOut.verdicts(on: message, for: candidates) { try rooms.badge(of: $0, at: message.time) }
      )
    }
    guard let found else { throw PushExplanationError.notAMessage(position, head: feed.head) }
    message = found.message
    verdicts = found.verdicts
  }

  /// - Returns: the message at `position`; nil when there is none.
  private static func apply(
    through position: LogPosition, of feed: any EventFeed, to database: Database, _ progress: (UInt64) -> Void
  ) throws -> FanOut.SentMessage? {
    guard position > .origin, position <= feed.head else { return nil }
    var projection = PushProjection()
    var last = LogPosition.origin
    while last < position {
      let events = try feed.events(after: last, limit: batchEvents).filter { $0.position <= position }
      guard let end = events.last else { return nil }
      try projection.apply(events[...], to: database)
      last = end.position
      progress(last.value)
      if last == position { return FanOut.SentMessage(end) }
    }
    return nil
  }

  private static func laterMembers(
    of room: RoomID, after position: LogPosition, in feed: any EventFeed, _ progress: (UInt64) -> Void
  ) throws -> Set<UserID> {
    var users: Set<UserID> = []
    var last = position
    while case let events = try feed.events(after: last, limit: batchEvents), let end = events.last {
      for recorded in events {
        guard case .room(room, let event) = recorded.event else { continue }
        if case .memberJoined(let user, _, _) = event { users.insert(user) }
        if case .memberAdded(let user, _) = event { users.insert(user) }
      }
      last = end.position
      progress(last.value)
    }
    return users
  }
}

package enum PushExplanationError: Error, Sendable, Hashable, CustomStringConvertible {
  case notAMessage(LogPosition, head: LogPosition)

  package var description: String {
    switch self {
    case .notAMessage(let position, let head):
      position > head || position == .origin
        ? "there is no event \(position); the log has 1 to \(head)" : "event \(position) is no sent message"
    }
  }
}
