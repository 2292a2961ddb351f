import ChatPrimitives
import ChatProjections
import ChatProtocol
import ChatService
import Foundation
import Hummingbird

struct SearchHandlers: Sendable {
  let chat: ChatService
  let budget: SearchBudget

  func search(_ context: HansardRequestContext) async throws -> TypedResponse<SearchResults> {
    let request = try Self.request(context)
    let limit = try context.limit(atMost: Limits.searchResults)
    let cursors = SearchCursors(request, query: try Self.query(context), in: chat.logIdentity, chat.searchCursorKey)
    let place = try context.cursor().map { cursor throws(Refusal) in try cursors.place(in: cursor) }
    let page = try await budget.spend(on: context) { meter in
      try await chat.search(request, from: place, limit: limit, meter)
    }
    guard let page else { throw Refusal.invalidCursor }
    return try await JSONBody.page(of: page.results.count) {
      SearchResults(
        results: page.results.map { SearchResult(message: Message($0.message), snippet: $0.snippet) },
        users: [User](page.profiles), nextCursor: page.next.map { cursors.cursor(at: $0) }, position: page.position)
    }
  }

  private static func request(_ context: HansardRequestContext) throws -> SearchRequest {
    let query = try query(context)
    guard query.utf8.count <= Limits.searchQueryBytes else {
      throw Refusal.invalidQuery("q can have at most \(Limits.searchQueryBytes) bytes.")
    }
    guard let words = SearchWords(query) else {
      throw Refusal.invalidQuery("q must contain a letter or a digit.")
    }
    return SearchRequest(
      words: words, user: try context.user, room: try id("roomId", context), sender: try id("senderId", context),
      since: try time("since", context), until: try time("until", context), hasMedia: try context.flag("hasMedia"),
      type: try context.messageType())
  }

  /// Forms and many clients encode a space as a plus sign, which is not part of any word.
  private static func query(_ context: HansardRequestContext) throws -> String {
    try context.query("q")?.replacing("+", with: " ") ?? ""
  }

  private static func id<Entity>(_ name: String, _ context: HansardRequestContext) throws -> ID<Entity>? {
    guard let text = try context.query(name) else { return nil }
    guard let id = ID<Entity>(text) else { throw Refusal.invalidQuery("\(name) must be a UUID.") }
    return id
  }

  private static func time(_ name: String, _ context: HansardRequestContext) throws -> Timestamp? {
    guard let text = try context.query(name) else { return nil }
    guard let time = Timestamp(rfc3339: text) else {
      throw Refusal.invalidQuery("\(name) must be a time such as 2026-01-31T08:00:00.000Z.")
    }
    return time
  }
}
