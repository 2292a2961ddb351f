package import ChatDomain
package import ChatPrimitives
import ChatProjections

extension ChatService {
  /// What changed for a user, like `changes(for:_:)`. If that is nothing, waits until there is something.
  /// - Parameter seconds: how long to wait at most. After that, the page has no items and the newest position.
  package func changes(
    for user: UserID, _ request: SyncRequest, waiting seconds: Int, permission: LivePermission
  ) async throws(ServiceError) -> SyncPage {
    guard seconds > 0 else { return try await changes(for: user, request) }
    let subscription: LiveSubscription
    do {
      // Before the first read: what changes afterwards is signalled.
      subscription = try live.subscribe(permission)
    } catch {
      switch error {
      case .tooManyOfUser, .tooManyOfDevice: throw .tooManyStreams
      case .ended: return try await changes(for: user, request)
      }
    }
    let end = ContinuousClock.now + .seconds(seconds)
    var request = request
    while true {
      let page = try await changes(for: user, request)
      guard page.items.isEmpty, !page.more else { return page }
      request.position = page.next
      guard try await Self.hasNews(subscription, after: page.next.position, until: end) else {
        return try await changes(for: user, request)
      }
    }
  }

  /// - Returns: false if the time is over or the stream has ended.
  private static func hasNews(
    _ subscription: LiveSubscription, after position: LogPosition, until end: ContinuousClock.Instant
  ) async throws(ServiceError) -> Bool {
    while true {
      let rest = end - .now
      guard rest > .zero else { return false }
      do {
        switch try await subscription.next(timeout: rest) {
        case .changed(let through): if through > position { return true }
        case .supplied(let pages): if let last = pages.last, last.through > position { return true }
        case .expiring, .heartbeat, .notices: break
        case .ended, nil: return false
        }
      } catch {
        throw .cancelled
      }
    }
  }
}
