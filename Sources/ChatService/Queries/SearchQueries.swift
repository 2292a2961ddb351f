package import ChatDomain
package import ChatPrimitives
package import ChatProjections

/// A page of what was found, with each message as its room shows it.
package struct FoundPage: Sendable {
  package struct Result: Sendable {
    package let message: MessageRow
    package let snippet: String
  }

  package let results: [Result]
  /// The senders' nicknames.
  package let nicknames: [UserID: String]
  package let next: SearchPlace?
  package let position: LogPosition
}

extension ChatService {
  /// Searches the rooms of a user. Does not wait for the index: the answer holds for the position that it names.
  ///
  /// What was found comes from the index's snapshot, the messages from the timeline's a moment later; each shows rooms
  /// only that the user is a member of then. A message that was edited or deleted in between is left out.
  package func search(
    _ request: SearchRequest, from place: SearchPlace?, limit: Int
  ) async throws(ServiceError) -> FoundPage {
    let found = try await failing {
      try await self.views.search.read { search in
        (page: try search.page(request, from: place, limit: limit), position: try search.checkpoint().position)
      }
    }
    guard let page = found.page else { throw .rejected(.roomNotFound) }
    return try await failing {
      try await self.views.timeline.wait(for: found.position)
      return try await self.views.timeline.read { timeline in
        let results: [FoundPage.Result] = try page.hits.compactMap { hit in
          guard let row = try timeline.message(at: hit.place, of: hit.room, for: request.user), row.deletedAt == nil,
            row.text == hit.text
          else { return nil }
          return FoundPage.Result(message: row, snippet: hit.snippet)
        }
        return FoundPage(
          results: results, nicknames: try timeline.nicknames(of: results.map(\.message.sender)), next: page.next,
          position: page.position)
      }
    }
  }
}
