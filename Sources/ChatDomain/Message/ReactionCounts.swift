package import ChatPrimitives

/// What a decision about one user's reaction needs to know of those that a message has. The ID index answers it, and the
/// writer overlays what is newer.
package struct ReactionCounts: Hashable, Sendable {
  /// Kinds that the message has.
  package var kinds: Int
  /// Users who reacted with this kind.
  package var users: Int
  /// Kinds with which this user reacted to the message.
  package var ownKinds: Int
  /// Whether this user reacted with this kind.
  package var isOwn: Bool

  package static let none = ReactionCounts(kinds: 0, users: 0, ownKinds: 0, isOwn: false)

  package init(kinds: Int, users: Int, ownKinds: Int, isOwn: Bool) {
    self.kinds = kinds
    self.users = users
    self.ownKinds = ownKinds
    self.isOwn = isOwn
  }
}

extension ReactionCounts {
  /// With this user's reaction of this kind; the same when it stands there already.
  package var adding: ReactionCounts {
    isOwn
      ? self
      : ReactionCounts(kinds: users == 0 ? kinds + 1 : kinds, users: users + 1, ownKinds: ownKinds + 1, isOwn: true)
  }

  /// Without it; the same when it does not stand there.
  package var removing: ReactionCounts {
    isOwn
      ? ReactionCounts(kinds: users == 1 ? kinds - 1 : kinds, users: users - 1, ownKinds: ownKinds - 1, isOwn: false)
      : self
  }

  /// What is there already can be joined, and repeated; there is a bound on what is new.
  func requirePlaceForOne() throws(Rejection) {
    if isOwn { return }
    guard users > 0 || kinds < Limits.reactionKindsPerMessage, ownKinds < Limits.reactionKindsPerUserAndMessage else {
      throw .tooManyReactions
    }
  }
}
