import ChatDomain
import ChatPrimitives
import ChatService
import EventLogSimulation
import EventStore

/// One open stream of each user. Whatever a user can read after a command must have woken the user's stream, or the user
/// would get it too late.
struct LiveWatch {
  /// How long a signal may take. It usually takes a few milliseconds.
  private static let timeout = Duration.seconds(60)

  private struct Stream {
    let subscription: LiveSubscription
    /// The user was told everything up to here.
    var position: LogPosition
  }

  private var streams: [UserID: Stream] = [:]
  /// How often a stream had to be woken, and was.
  private(set) var wakes = 0
  /// How often a stream did not have to read.
  private(set) var suppliedPages = 0

  /// Call this after each command.
  mutating func check(_ chat: ChatService, _ users: [UserID], _ random: inout SeededRandom) async throws {
    for user in users {
      guard let stream = streams[user], random.below(20) > 0 else {
        try open(user, chat)
        continue
      }
      let request = SyncRequest(after: SyncPosition(stream.position), limit: 1_000)
      let page = try await chat.changes(for: user, request)
      if page.more { throw Mismatch("live: one command", ["  has too many items for one page"]) }
      if let last = page.items.map(\.revision).max() {
        let pages = try await awaitSignal(for: user, stream, through: last)
        if let supplied = request.page(of: pages, after: SyncPosition(stream.position)) {
          try compare(supplied, page, of: user)
        }
      }
      streams[user]?.position = page.next.position
    }
  }

  /// Opens a stream instead of the one that the user has. A disabled user has none.
  private mutating func open(_ user: UserID, _ chat: ChatService) throws {
    streams[user] = nil
    do {
      let subscription = try chat.live.subscribe(LivePermission(user: user))
      streams[user] = Stream(subscription: subscription, position: chat.store.head)
    } catch {
      guard error == .ended(.accountDisabled) else { throw error }
    }
  }

  /// What a stream gets without reading is what it would read.
  private mutating func compare(_ supplied: SyncPage, _ read: SyncPage, of user: UserID) throws {
    guard supplied.items == read.items, supplied.profiles == read.profiles else {
      throw Mismatch(
        "live: u\(user.short) gets another page",
        supplied.items.map { "  supplied: \($0)" } + read.items.map { "  read: \($0)" })
    }
    suppliedPages += 1
  }

  /// - Returns: what the stream need not read.
  private mutating func awaitSignal(
    for user: UserID, _ stream: Stream, through position: LogPosition
  ) async throws -> [LivePage] {
    while true {
      switch try await stream.subscription.next(timeout: Self.timeout) {
      case .changed(let through):
        guard through >= position else { continue }
        wakes += 1
        return []
      case .supplied(let pages):
        guard let last = pages.last, last.through >= position else { continue }
        wakes += 1
        return pages
      case .notices, .expiring, .heartbeat: continue
      case .ended(.accountDisabled):
        streams[user] = nil
        return []
      case .ended(let ending): throw Mismatch("live: u\(user.short)", ["  the stream ended: \(ending)"])
      case nil: throw Mismatch("live: u\(user.short)", ["  was not woken for position \(position)"])
      }
    }
  }
}
