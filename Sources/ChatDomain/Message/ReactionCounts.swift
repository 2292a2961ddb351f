package import ChatPrimitives

/// What a decision about one user's reaction needs to know of a message's reactions. The ID index is read for it, and
/// the writer applies newer changes.
package struct ReactionCounts: Hashable, Sendable {
  /// How many kinds of reactions the message has.
  package var kinds: Int
  /// How many users reacted with this kind.
  package var users: Int
  /// How many kinds this user reacted with.
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
  /// With this user's reaction of this kind. Unchanged if the user has reacted with it already.
  package var adding: ReactionCounts {
    isOwn
      ? self
      : ReactionCounts(kinds: users == 0 ? kinds + 1 : kinds, users: users + 1, ownKinds: ownKinds + 1, isOwn: true)
  }

  /// Without this user's reaction of this kind. Unchanged if there is none.
  package var removing: ReactionCounts {
    isOwn
      ? ReactionCounts(kinds: users == 1 ? kinds - 1 : kinds, users: users - 1, ownKinds: ownKinds - 1, isOwn: false)
      : self
  }

  /// Limits new reactions. A reaction that the user has already can be repeated.
  func requirePlaceForOne() throws(Rejection) {
    if isOwn { return }
    guard users > 0 || kinds < Limits.reactionKindsPerMessage, ownKinds < Limits.reactionKindsPerUserAndMessage else {
      throw .tooManyReactions
    }
  }
}
