package import ChatDomain
package import ChatPrimitives

/// What a user asks for.
package struct SearchRequest: Sendable {
  package var words: SearchWords
  package var user: UserID
  package var room: RoomID?
  package var sender: UserID?
  /// Sent then or later.
  package var since: Timestamp?
  /// Sent before then.
  package var until: Timestamp?
  /// With an attachment, or without one.
  package var hasMedia: Bool?

  package init(
    words: SearchWords, user: UserID, room: RoomID? = nil, sender: UserID? = nil, since: Timestamp? = nil,
    until: Timestamp? = nil, hasMedia: Bool? = nil
  ) {
    self.words = words
    self.user = user
    self.room = room
    self.sender = sender
    self.since = since
    self.until = until
    self.hasMedia = hasMedia
  }
}

/// Where a search goes on.
package struct SearchPlace: Sendable, Hashable {
  /// What the first page knew of. Nothing that was written later is shown.
  package var bound: LogPosition
  /// The window that is being shown: no indexed text after this one.
  package var newest: LogPosition
  /// No indexed text before this one; nil while it is not known how far the window goes.
  package var oldest: LogPosition?
  /// The last that was shown of the window.
  package var after: SearchHit.Order?

  package init(bound: LogPosition, newest: LogPosition, oldest: LogPosition?, after: SearchHit.Order?) {
    self.bound = bound
    self.newest = newest
    self.oldest = oldest
    self.after = after
  }
}

/// A message that was found.
package struct SearchHit: Sendable {
  /// The best first; among equals the newest.
  package struct Order: Sendable, Hashable, Comparable {
    package var rank: Int64
    package var position: LogPosition

    package init(rank: Int64, position: LogPosition) {
      self.rank = rank
      self.position = position
    }

    package static func < (left: Order, right: Order) -> Bool {
      left.rank == right.rank ? left.position > right.position : left.rank > right.rank
    }
  }

  package var order: Order
  package var room: RoomID
  package var place: MessageLocation
  /// What the message said, as the index knows it.
  package var text: String
  package var snippet: String
  /// Where a page goes on that ends with this hit.
  package var next: SearchPlace
}

package struct SearchPage: Sendable {
  package var hits: [SearchHit]
  /// nil at the end. There may be a next page though this one is not full: a search looks at so many messages at a time.
  package var next: SearchPlace?
  /// The page shows what was found up to here, less what has been edited or deleted since.
  package var position: LogPosition
  /// What it took to find it, as `SearchQueries.pageCost` counts.
  package var cost = 0
}
