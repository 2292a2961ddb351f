package import ChatDomain
package import ChatPrimitives

/// What a user searches for.
package struct SearchRequest: Sendable {
  package var words: SearchWords
  package var user: UserID
  package var room: RoomID?
  package var sender: UserID?
  /// Only messages sent at this time or later.
  package var since: Timestamp?
  /// Only messages sent before this time.
  package var until: Timestamp?
  /// Only messages with attachments, or only messages without; nil for both.
  package var hasMedia: Bool?
  /// Only messages with this type. A hit can have another type with the same hash, which the timeline rules out.
  package var type: String?

  package init(
    words: SearchWords, user: UserID, room: RoomID? = nil, sender: UserID? = nil, since: Timestamp? = nil,
    until: Timestamp? = nil, hasMedia: Bool? = nil, type: String? = nil
  ) {
    self.words = words
    self.user = user
    self.room = room
    self.sender = sender
    self.since = since
    self.until = until
    self.hasMedia = hasMedia
    self.type = type
  }
}

/// Where the next page of a search continues.
package struct SearchPlace: Sendable, Hashable {
  /// The position that the first page had reached. Later messages are not shown.
  package var bound: LogPosition
  /// The newest position of the current window.
  package var newest: LogPosition
  /// The oldest position of the current window; nil until it is known.
  package var oldest: LogPosition?
  /// The last hit of the window that was shown.
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
  /// Orders the best hits first, and the newest first among equals.
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
  package var location: MessageLocation
  /// The text of the message as it is in the index.
  package var text: String
  package var snippet: String
  /// Where the next page continues if this hit ends a page.
  package var next: SearchPlace
}

package struct SearchPage: Sendable {
  package var hits: [SearchHit]
  /// Nil at the end. There may be a next page even if this one is not full, because each page has a limited cost.
  package var next: SearchPlace?
  /// The page contains the hits up to this position, except messages that were edited or deleted since.
  package var position: LogPosition
  /// The cost of the page, in the unit of `SearchQueries.pageCost`.
  package var cost = 0
}
