import ChatDomain
import ChatPrimitives
import ChatProjections
import ChatService
import EventLogSimulation
import EventStore

extension Comparison {
  /// Words, parts of Korean words, other ways to write them, and several words at once.
  private static let queries = [
    "tea", "milk", "sugar", "later", "TEA", "cafe\u{301}", "tea milk", "tea \u{D68C}\u{C758}", "\u{CC28}",
    "\u{D68C}\u{C758}", "\u{D68C}\u{C758}\u{B85D}", "\u{C2DC}\u{AC04}", "\u{C810}\u{C2EC} tea",
    // 회의 in decomposed form.
    "\u{1112}\u{116C}\u{110B}\u{1174}",
  ]

  /// Compares the results of a random search with those of a scan of all messages.
  mutating func compareSearch(of user: UserID) async throws {
    let search = drawnSearch()
    guard let words = SearchWords(search.query) else { return try expect("a word to search for", search.query, "none") }
    let request = SearchRequest(
      words: words, user: user, room: search.room, sender: search.sender, since: search.since, until: search.until,
      hasMedia: search.hasMedia)
    let expected: QueryResult<[SeenMessage]>
    if let room = search.room, model.room(room, seenBy: user) == nil {
      expected = .refused("room_not_found")
    } else {
      expected = .found(
        model.rooms(of: user).flatMap { room in
          room.messages.filter { search.finds($0, in: room.id) }.map { SeenMessage($0) }
        }.sorted { $0.position < $1.position })
    }
    try await chat.readModels.search.wait(for: chat.store.head)
    let limit = random.within(1...50)
    let found = try await result { () async throws(ServiceError) in
      var (found, place): ([SeenMessage], SearchPlace?) = ([], nil)
      repeat {
        guard let page = try await chat.search(request, from: place, limit: limit) else {
          throw .failed("a place of this search is not known again")
        }
        found += page.results.map { SeenMessage($0.message.row) }
        place = page.next
      } while place != nil && found.count <= Self.mostResults
      return found.sorted { $0.position < $1.position }
    }
    try expect("search of u\(user.short) for \(search), \(limit) at a time", expected, found)
    guard case .found(let messages) = expected else { return }
    let indexed = try await indexed(request, limit: limit)
    try expect("search index for \(search)", messages.map(\.text).sorted(), indexed.sorted())
  }

  /// The texts that the index itself returns. Deleted texts must be gone from the index, and not only be filtered out
  /// of responses.
  private func indexed(_ request: SearchRequest, limit: Int) async throws -> [String] {
    try await chat.readModels.search.read { search in
      var (hits, place): ([SearchHit], SearchPlace?) = ([], nil)
      repeat {
        let page = try search.page(request, from: place, limit: limit)
        hits += page.hits
        place = page.next
      } while place != nil && hits.count <= Self.mostResults
      return hits.map(\.text)
    }
  }

  /// The number of results after which an endless search is stopped.
  private static var mostResults: Int { 10_000 }

  /// Half of the searches have no filter, the others have one or two.
  private mutating func drawnSearch() -> ModelSearch {
    var search = ModelSearch(query: Self.queries[random.below(Self.queries.count)])
    if random.isOne(in: 2) { return search }
    let messages = model.rooms.values.filter { $0.exists }.sorted { $0.age < $1.age }.flatMap(\.messages)
    for _ in 0..<random.within(1...2) {
      guard !messages.isEmpty else { return search }
      let message = messages[random.below(messages.count)]
      switch random.below(5) {
      case 0: search.room = model.rooms.values.first { $0.message(message.id) != nil }?.id
      case 1: search.sender = message.author
      case 2: search.since = message.sentAt
      case 3: search.until = message.sentAt
      default: search.hasMedia = random.isOne(in: 2)
      }
    }
    return search
  }
}

/// A search, and whether a message matches it.
private struct ModelSearch {
  let query: String
  var room: RoomID?
  var sender: UserID?
  var since: Timestamp?
  var until: Timestamp?
  var hasMedia: Bool?

  init(query: String) {
    self.query = query
  }

  func finds(_ message: ModelMessage, in place: RoomID) -> Bool {
    if message.isDeleted || room.map({ $0 != place }) == true { return false }
    if sender.map({ $0 != message.author }) == true { return false }
    if since.map({ message.sentAt < $0 }) == true || until.map({ message.sentAt >= $0 }) == true { return false }
    if hasMedia.map({ $0 == message.attachments.isEmpty }) == true { return false }
    let words = message.text.split(separator: " ")
    return query.split(separator: " ").allSatisfy { piece in words.contains { Self.matches(piece, $0) } }
  }

  /// A word must match as a whole, in any case. A Korean word matches as a part of another word, or only as its
  /// beginning if it is a single syllable. Canonically equivalent texts match.
  private static func matches(_ piece: Substring, _ word: Substring) -> Bool {
    guard let first = piece.first, "\u{AC00}"..."\u{D7A3}" ~= first else {
      return piece.lowercased() == word.lowercased()
    }
    return piece.count == 1 ? word.hasPrefix(piece) : word.contains(piece)
  }
}
