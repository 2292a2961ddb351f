package import ChatDomain
package import ChatPrimitives
package import ChatProjections
import EventStore

/// What belongs to messages: reactions, earlier texts, pins and threads.
extension ChatService {
  package func reactions(
    to message: MessageID, of room: RoomID, for user: UserID, after cursor: LogPosition?, limit: Int
  ) async throws(ServiceError) -> ReactionPage {
    let location = try await known(message, in: room, for: user).location
    let page = try await timeline {
      try $0.reactions(to: location, of: room, for: user, after: cursor, limit: limit)
    }
    guard let page else { throw .rejected(.roomNotFound) }
    return page
  }

  package func history(
    of message: MessageID, in room: RoomID, for user: UserID, after cursor: LogPosition?, limit: Int
  ) async throws(ServiceError) -> MessageHistoryPage {
    let location = try await known(message, in: room, for: user).location
    let page = try await timeline { try $0.history(of: location, in: room, for: user, after: cursor, limit: limit) }
    guard let page else { throw .rejected(.roomNotFound) }
    return page
  }

  /// The newest pin first.
  package func pins(
    of room: RoomID, for user: UserID, after cursor: LogPosition? = nil
  ) async throws(ServiceError) -> PinPage {
    let found = try await timeline { try $0.pins(of: room, for: user, after: cursor) }
    guard let found else { throw .rejected(.roomNotFound) }
    return found
  }

  /// The threads that the user follows, the latest reply first, each with its root.
  package func followedThreads(
    of user: UserID, _ filter: RoomListFilter = RoomListFilter(), after cursor: LogPosition?, limit: Int
  ) async throws(ServiceError) -> (
    threads: [(FollowedThread, root: ShownMessage)], profiles: [UserID: Profile], next: LogPosition?
  ) {
    let page = try await rooms { try $0.followedThreads(of: user, filter, after: cursor, limit: limit) }
    return try await timeline { timeline in
      var threads: [(FollowedThread, root: ShownMessage)] = []
      var next = page.next
      var budget = PageBudget()
      for thread in page.threads {
        guard let root = try timeline.shown(at: .room(thread.root), of: thread.room, for: user) else { continue }
        guard budget.take(root.row.contentBytes) else {
          next = threads.last?.0.activity
          break
        }
        threads.append((thread, root: root))
      }
      return (threads, try timeline.profiles(on: threads.map(\.root)), next)
    }
  }
}
