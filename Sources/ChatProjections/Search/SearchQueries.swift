import ChatDomain
import ChatPrimitives
package import GRDB

/// The queries on `search`. A search only finds messages of rooms that the user is a member of in the same snapshot.
///
/// Hits come in windows: first the newest hits, then those before them, and so on. Within a window, the best come
/// first. So a page costs the same however many hits there are. Consecutive pages neither repeat nor skip hits: the
/// ends of a window are fixed when it is first shown, and a hit's rank depends on nothing else.
package struct SearchQueries: ReadModelQueries {
  package let database: Database

  package init(_ database: Database) {
    self.database = database
  }

  /// Whether no word of a removed text is left in the tables.
  package func isClean() throws -> Bool {
    try !CachedStatement(database, "SELECT 1 FROM erasure LIMIT 1").exists()
  }

  /// The number of hits in a window.
  static let windowHits = 1000
  /// The maximum cost of one page, in indexed texts that are read. Each `bytesPerCost` bytes of a text or of the index
  /// count as one more. So a page reads about 7.7 MB at most, plus what one shard's index takes.
  package static let pageCost = 30_000
  /// This many bytes of text or index cost as much as reading one indexed text.
  package static let bytesPerCost = 256
  /// The size of SQLite's pages in bytes. FTS5 takes 25 to 40 µs to process a page with a list of positions. Reading a
  /// text of that length takes the search the same time.
  static let bytesPerPage = 4096

  /// - Parameters:
  ///   - place: where the previous page ended; nil for the first.
  ///   - limit: the maximum number of hits, at least one.
  ///   - meter: counts what the page costs. Use a new one for each page.
  /// - Returns: a page without hits if the request names a room and this file does not list the user as a member of it.
  /// - Throws: `SearchPlaceOutgrown`.
  package func page(
    _ request: SearchRequest, from place: SearchPlace? = nil, limit: Int, windowHits: Int = windowHits,
    pageCost: Int = pageCost, meter: SearchMeter = SearchMeter()
  ) throws -> SearchPage {
    let rooms = try SearchRooms(database, of: request.user, only: request.room)
    let head = try checkpoint().position
    var place = place ?? SearchPlace(bound: head, newest: head, oldest: nil, after: nil)
    // A rebuilt file may not have reached the position of an old cursor yet.
    place.bound = min(place.bound, head)
    place.newest = min(place.newest, place.bound)
    if let oldest = place.oldest, oldest > place.newest {
      return SearchPage(hits: [], next: nil, position: place.bound)
    }
    var page = SearchPage(hits: [], next: place, position: place.bound)
    let reading = SearchReading(database, request, rooms: rooms, cost: pageCost, meter)
    while page.hits.count < limit, let next = page.next, !rooms.isEmpty {
      let window =
        if let oldest = next.oldest {
          try reading.window(newest: next.newest, oldest: oldest, hits: windowHits)
        } else {
          try reading.window(newest: next.newest, hits: windowHits)
        }
      let rest = window.hits.filter { hit in next.after.map { $0 < hit.order } ?? true }
        .sorted { $0.order < $1.order }
      let taken = rest.prefix(limit - page.hits.count)
      page.hits += try taken.compactMap { candidate in
        try reading.hit(
          candidate,
          next: SearchPlace(
            bound: next.bound, newest: next.newest, oldest: window.oldest, after: candidate.order))
      }
      page.next = next.following(window, shown: taken.last?.order, isAllShown: taken.count == rest.count)
      if reading.isSpent { break }
    }
    if rooms.isEmpty { page.next = nil }
    page.cost = meter.spent
    return page
  }
}

extension SearchPlace {
  /// Where the search continues after a window whose hits up to `shown` were shown; nil at the end.
  fileprivate func following(
    _ window: SearchReading.Window, shown: SearchHit.Order?, isAllShown: Bool
  ) -> SearchPlace? {
    if !isAllShown {
      return SearchPlace(bound: bound, newest: newest, oldest: window.oldest, after: shown ?? after)
    }
    guard window.oldest > .first else { return nil }
    return SearchPlace(bound: bound, newest: LogPosition(window.oldest.value - 1), oldest: nil, after: nil)
  }
}
