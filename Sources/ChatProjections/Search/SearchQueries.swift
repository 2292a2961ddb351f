import ChatDomain
import ChatPrimitives
package import GRDB

/// What can be asked of `search`. Every answer holds messages of rooms only that the user is a member of in the same
/// snapshot.
///
/// Hits come in windows of the newest, then those before them, and so on; within a window the best come first. So a page
/// costs the same however many hits there are, and pages that follow one another neither repeat nor skip: a window's ends
/// are fixed when it is first shown, and a hit's rank depends on nothing else.
package struct SearchQueries: ReadModelQueries {
  package let database: Database

  package init(_ database: Database) {
    self.database = database
  }

  /// How many hits make a window.
  static let windowHits = 1000
  /// How much one page may cost, counted in indexed texts that are looked at. Each `bytesPerCost` bytes of a text, or
  /// of the index, count as one more. So a page reads 7.5 MB at most, and beyond that what one shard's index takes.
  package static let pageCost = 30_000
  /// This many bytes of text or index cost as much as one look.
  package static let bytesPerCost = 256
  /// SQLite reads its file in pages of so many bytes. FTS5 takes 25 to 40 µs to walk through one with a list of positions,
  /// which is as long as the search takes to read a text of that length.
  static let bytesPerPage = 4096

  /// - Parameters:
  ///   - place: where the page before ended.
  ///   - limit: how many hits at most, at least one.
  ///   - meter: counts what the page costs. A new one for each page.
  /// - Returns: a page without hits if the request names a room and this file does not list the user as a member of it.
  /// - Throws: `SearchPlaceOutgrown`.
  package func page(
    _ request: SearchRequest, from place: SearchPlace? = nil, limit: Int, windowHits: Int = windowHits,
    pageCost: Int = pageCost, meter: SearchMeter = SearchMeter()
  ) throws -> SearchPage {
    let rooms = try SearchRooms(database, of: request.user, only: request.room)
    let head = try checkpoint().position
    var place = place ?? SearchPlace(bound: head, newest: head, oldest: nil, after: nil)
    // A file that was made anew may stand before what an old cursor knew of.
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
  /// Where it goes on after a window, of which hits up to `shown` were shown; nil at the end.
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
