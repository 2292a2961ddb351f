import ChatDomain
import ChatPrimitives
import ChatProjections

/// The counts of reactions that changed recently. Each count is exact as of its position, and nothing has changed it
/// since, so it replaces what the ID index returned.
struct RecentReactions: Sendable {
  private var counts: [Key: Count] = [:]

  func counts(for key: ReactionKey, found: ReactionCounts) -> ReactionCounts {
    guard !counts.isEmpty else { return found }
    return ReactionCounts(
      kinds: counts[.kinds(key)]?.value ?? found.kinds, users: counts[.users(key)]?.value ?? found.users,
      ownKinds: counts[.ownKinds(key)]?.value ?? found.ownKinds,
      isOwn: counts[.own(key)].map { $0.value > 0 } ?? found.isOwn)
  }

  mutating func enter(_ new: ReactionCounts, for key: ReactionKey, at position: LogPosition) {
    counts[.kinds(key)] = Count(value: new.kinds, position: position)
    counts[.users(key)] = Count(value: new.users, position: position)
    counts[.ownKinds(key)] = Count(value: new.ownKinds, position: position)
    counts[.own(key)] = Count(value: new.isOwn ? 1 : 0, position: position)
  }

  /// Drops counts that no later event has changed: the index has them now.
  mutating func forget(_ key: ReactionKey, at position: LogPosition) {
    for key in [Key.kinds(key), .users(key), .ownKinds(key), .own(key)] where counts[key]?.position == position {
      counts[key] = nil
    }
  }

  /// What is counted: reactions to a message, of one kind, of one user, or of one user and kind.
  private struct Key: Hashable {
    let message: MessageKey
    let user: UserID?
    let emoji: [UInt8]?

    static func kinds(_ key: ReactionKey) -> Key { Key(message: key.message, user: nil, emoji: nil) }
    static func users(_ key: ReactionKey) -> Key { Key(message: key.message, user: nil, emoji: key.emoji) }
    static func ownKinds(_ key: ReactionKey) -> Key { Key(message: key.message, user: key.user, emoji: nil) }
    static func own(_ key: ReactionKey) -> Key { Key(message: key.message, user: key.user, emoji: key.emoji) }
  }

  private struct Count {
    let value: Int
    let position: LogPosition
  }
}
