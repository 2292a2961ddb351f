import ChatDomain
package import ChatPrimitives
import ChatProjections

/// The items that a user gets for the messages of one cycle.
struct LiveContent: Sendable, Hashable {
  /// In the order of a catch-up, and without `user` items.
  var items: [SyncItem]
  /// The profiles of all users in the items.
  var profiles: [UserID: Profile]
}

/// Everything that concerns a user between two positions. A stream that has everything up to `after` can send it
/// instead of reading a page.
package struct LivePage: Sendable, Hashable {
  var after: LogPosition
  package var through: LogPosition
  var content: LiveContent
}

extension SyncItem.Content {
  /// The room of the entity; nil for types that a live page never contains.
  fileprivate var room: RoomID? {
    switch self {
    case .room(let row): row.room.id
    case .readMarker(_, let room): room
    case .message(let message): message.row.room
    case .account, .preferences, .device, .session, .blockedUser, .workspace, .workspaceMember, .invitation,
      .scheduledMessage, .member, .thread, .user, .badge, .gap, .unfollowedThread, .removed:
      nil
    }
  }
}

extension SyncRequest {
  /// What a catch-up from a position would return, if these pages have it.
  package func page(of pages: [LivePage], after position: SyncPosition) -> SyncPage? {
    guard position.stage == .complete, let first = pages.first, let last = pages.last,
      first.after <= position.position, last.through > position.position
    else { return nil }
    let items = pages.flatMap(\.content.items).filter { item in
      item.revision > position.position && filter.wants(item.content.type)
        && (item.content.room.map { filter.wants($0) } ?? true)
    }
    let messages = items.count { $0.content.type == .message }
    guard items.count <= limit, messages <= perRoom ?? .max else { return nil }
    var budget = PageBudget()
    guard items.allSatisfy({ budget.take($0.content.contentBytes) }) else { return nil }
    let profiles = pages.reduce(into: [:]) { $0.merge($1.content.profiles) { _, newer in newer } }
    return SyncPage(
      items: filter.withUsers(items, profiles), profiles: profiles, next: SyncPosition(last.through), more: false)
  }
}
