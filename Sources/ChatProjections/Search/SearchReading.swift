import ChatDomain
import ChatPrimitives
import GRDB

/// The window at a place costs or contains far more than a window may. Either no page returned this place, or the user
/// has since joined rooms with many hits.
package struct SearchPlaceOutgrown: Error {}

/// Reads windows of hits from one snapshot, starting with the newest shard.
struct SearchReading {
  struct Window {
    var hits: [Candidate]
    /// The oldest position of the window.
    var oldest: LogPosition
  }

  struct Candidate {
    let order: SearchHit.Order
    let room: RoomID
    let location: MessageLocation
  }

  /// Checking a text for one word costs `1 / wordsPerReading` of reading it.
  private static let wordsPerReading = 8
  /// A window may contain and cost this many times as much as when it was first shown, because the user may have joined
  /// rooms since.
  private static let grownWindow = 2
  /// If at most this many indexed texts of a shard contain the words, the index is not queried for the labels; each
  /// indexed text is checked instead.
  private static let unlabelledRows = 256

  private let database: Database
  private let request: SearchRequest
  private let rooms: SearchRooms
  /// The full-text query with the words only, and the one with the labels, too.
  private let words: String
  private let expression: String
  /// Nil if messages of all types are wanted.
  private let type: TypeHash?
  private let pageCost: Int
  private let meter: SearchMeter

  init(_ database: Database, _ request: SearchRequest, rooms: SearchRooms, cost: Int, _ meter: SearchMeter) {
    self.database = database
    self.request = request
    self.rooms = rooms
    self.meter = meter
    pageCost = cost
    type = request.type.map { TypeHash($0) }
    words = request.words.expression
    var labels: [String] = []
    if let numbers = rooms.labels {
      let each = numbers.map { SearchWords.quoted(SearchDocument.label(room: $0)) }
      labels.append("(" + each.joined(separator: " OR ") + ")")
    }
    if let sender = request.sender { labels.append(SearchWords.quoted(SearchDocument.label(sender: sender))) }
    if request.hasMedia == true { labels.append(SearchWords.quoted(SearchDocument.mediaLabel)) }
    if let type { labels.append(SearchWords.quoted(SearchDocument.label(type: type))) }
    expression = (labels + [words]).joined(separator: " AND ")
  }

  /// Whether the page has used up its cost.
  var isSpent: Bool { meter.spent >= pageCost }

  /// A new window. It ends when there are enough hits or when the page has used up its cost.
  func window(newest: LogPosition, hits limit: Int) throws -> Window {
    var window = Window(hits: [], oldest: .first)
    if let reached = try read(.first, newest, into: &window.hits, most: limit, cost: pageCost) {
      window.oldest = reached
    }
    return window
  }

  /// A window that was shown before, whose ends are known.
  /// - Throws: `SearchPlaceOutgrown` if it contains or costs far more than a window may.
  func window(newest: LogPosition, oldest: LogPosition, hits limit: Int) throws -> Window {
    var window = Window(hits: [], oldest: oldest)
    let reached = try read(
      oldest, newest, into: &window.hits, most: limit * Self.grownWindow, cost: pageCost * Self.grownWindow)
    if let reached, reached > oldest { throw SearchPlaceOutgrown() }
    return window
  }

  /// - Parameter cost: reading stops once the page has cost this much.
  /// - Returns: where reading stopped because there were enough hits or the cost was used up; nil if it reached the
  ///   end.
  private func read(
    _ oldest: LogPosition, _ newest: LogPosition, into hits: inout [Candidate], most: Int, cost: Int
  ) throws -> LogPosition? {
    for shard in try shards(from: oldest, through: newest) {
      let positions = shard.positions.clamped(to: oldest.value...newest.value)
      if let reached = try read(shard, positions, into: &hits, most: most, cost: cost) { return reached }
      if meter.spent >= cost { return LogPosition(positions.lowerBound) }
    }
    return nil
  }

  /// The shards from the newest to the oldest, without those whose messages are all too old or too new.
  private func shards(from oldest: LogPosition, through newest: LogPosition) throws -> [SearchShard] {
    guard oldest <= newest else { return [] }
    return try CachedStatement(
      database,
      """
      SELECT number FROM shard WHERE number BETWEEN ? AND ? AND latest >= ? AND earliest < ? ORDER BY number DESC
      """
    ).all(
      SearchShard(of: oldest).number, SearchShard(of: newest).number, request.since?.milliseconds ?? .min,
      request.until?.milliseconds ?? .max
    ) { SearchShard(number: try $0.unsigned()) }
  }

  /// - Returns: where reading stopped because there were enough hits or the cost was used up; nil if it reached the end
  ///   of the shard.
  private func read(
    _ shard: SearchShard, _ positions: ClosedRange<UInt64>, into hits: inout [Candidate], most: Int, cost: Int
  ) throws -> LogPosition? {
    var few: [LogPosition] = []
    if expression != words {
      try ask(shard, for: words, positions, most: Self.unlabelledRows + 1) { position in
        few.append(position)
        return true
      }
    }
    var stopped: LogPosition?
    func look(_ position: LogPosition) throws -> Bool {
      if let found = try candidate(at: position) { hits.append(found) }
      if hits.count >= most || meter.spent >= cost { stopped = position }
      return stopped == nil
    }
    if expression == words || few.count > Self.unlabelledRows {
      try ask(shard, for: expression, positions, most: .max, look)
    } else {
      for position in few { guard try look(position) else { break } }
    }
    return stopped
  }

  /// Passes the positions of the indexed texts that the index finds to `body`, newest first, until it returns false.
  /// Charges the pages of the index that are read: for frequent words the index reads long lists, even if it finds
  /// nothing.
  private func ask(
    _ shard: SearchShard, for expression: String, _ positions: ClosedRange<UInt64>, most: Int,
    _ body: (LogPosition) throws -> Bool
  ) throws {
    let rows = try CachedStatement(
      database,
      """
      SELECT rowid FROM \(shard.table) WHERE \(shard.table) MATCH ? AND rowid BETWEEN ? AND ?
      ORDER BY rowid DESC LIMIT ?
      """)
    // A base charge, because FTS5 caches the structure of an empty index and then reads no page.
    meter.charge(1)
    // Resets the count, because earlier reads are charged in another way.
    _ = database.takePageReads()
    defer { chargePageReads() }
    try rows.readWhile(expression, positions.lowerBound, positions.upperBound, most) { row in
      let position = try row.position()
      chargePageReads()
      defer { _ = database.takePageReads() }
      return try body(position)
    }
  }

  private func chargePageReads() {
    meter.charge(database.takePageReads() * SearchQueries.bytesPerPage / SearchQueries.bytesPerCost)
  }

  // MARK: - Indexed texts

  /// The indexed text at this position as a candidate, if it matches the request.
  private func candidate(at position: LogPosition) throws -> Candidate? {
    meter.charge(1)
    guard let indexedText = try indexedText(at: position) else { return nil }
    meter.charge(readingCost(of: indexedText))
    guard let room = try rooms.room(indexedText.room) else { return nil }
    return matched(indexedText) { match, _ in
      Candidate(
        order: SearchHit.Order(rank: SearchRank.rank(match, sentAt: indexedText.sentAt), position: position),
        room: room,
        location: indexedText.location)
    }
  }

  /// The cost of checking a text, besides the charge for its row: it depends on the number of bytes and of words.
  private func readingCost(of indexedText: IndexedText) -> Int {
    let cost = (indexedText.text.count + indexedText.extra.count) / SearchQueries.bytesPerCost
    return cost * (Self.wordsPerReading + request.words.pieces.count) / Self.wordsPerReading
  }

  /// Whether an indexed text matches the request apart from its words.
  private func isWanted(_ indexedText: IndexedText) throws -> Bool {
    guard try rooms.room(indexedText.room) != nil else { return false }
    if let sender = request.sender, sender != indexedText.sender { return false }
    if let since = request.since, indexedText.sentAt < since { return false }
    if let until = request.until, indexedText.sentAt >= until { return false }
    if let hasMedia = request.hasMedia, hasMedia != indexedText.hasMedia { return false }
    if let type, type != indexedText.type { return false }
    return true
  }

  /// - Parameter next: where the next page continues if this hit ends a page.
  func hit(_ candidate: Candidate, next: SearchPlace) throws -> SearchHit? {
    guard let indexedText = try indexedText(at: candidate.order.position) else { return nil }
    return matched(indexedText) { match, composed in
      SearchHit(
        order: candidate.order, room: candidate.room, location: candidate.location,
        text: String(decoding: indexedText.text, as: UTF8.self), snippet: SearchSnippet(composed, match.places).marked,
        next: next)
    }
  }

  /// The indexed text at this position, if it is not erased and matches the request apart from its words.
  private func indexedText(at position: LogPosition) throws -> IndexedText? {
    try CachedStatement(database, "SELECT \(IndexedText.columns) FROM wording WHERE position = ? AND isGone = 0")
      .first(position) { try IndexedText(&$0, if: isWanted) } ?? nil
  }

  /// Checks the text itself, because the index only knows pairs of characters, and still contains erased texts.
  private func matched<Found>(
    _ indexedText: IndexedText, _ body: (SearchMatch, UnsafeBufferPointer<UInt8>) -> Found?
  ) -> Found? {
    let document =
      indexedText.extra.isEmpty ? indexedText.text : indexedText.text + [IndexedText.betweenParts] + indexedText.extra
    return document.withUnsafeBufferPointer { document in
      NormalForm.withComposed(document) { composed in
        SearchMatch(request.words, in: composed).flatMap { body($0, composed) }
      }
    }
  }
}
