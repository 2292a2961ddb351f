package import ChatDomain
package import ChatPrimitives
package import ChatProjections
package import Crypto
import EventStore

/// A page of what was found, with each message as its room shows it.
package struct FoundPage: Sendable {
  package struct Result: Sendable {
    package let message: ShownMessage
    package let snippet: String
  }

  package let results: [Result]
  /// The profiles of senders and of other users in the messages.
  package let profiles: [UserID: Profile]
  package let next: SearchPlace?
  package let position: LogPosition
}

extension ChatService {
  /// The key that protects cursors of searches.
  package var searchCursorKey: SymmetricKey { keys.key(for: "search-cursor") }

  /// Searches the rooms of a user. Does not wait for the index: the response is complete up to the position in it.
  ///
  /// What was found comes from the index's snapshot, the messages from the timeline's. The timeline has applied
  /// everything that was durable when the request arrived, and decides what the user may see. A user who was removed
  /// from a room finds nothing there, even if the index has not applied the removal yet. A room that the index does not
  /// know yet has no hits. A message that has been edited or deleted since is left out.
  /// - Parameter meter: counts what the search costs, also when it fails.
  /// - Returns: nil if the search can no longer continue from this place.
  package func search(
    _ request: SearchRequest, from place: SearchPlace?, limit: Int, _ meter: SearchMeter = SearchMeter()
  ) async throws(ServiceError) -> FoundPage? {
    let head = store.head
    guard readModels.search.followingFault == nil else { throw .projectionBehind }
    let found: (page: SearchPage, position: LogPosition)? = try await failing {
      try await self.readModels.search.read { search in
        let position = try search.checkpoint().position
        do {
          return (try search.page(request, from: place, limit: limit, meter: meter), position)
        } catch is SearchPlaceOutgrown {
          return nil
        }
      }
    }
    guard let (page, position) = found else { return nil }
    return try await failing {
      try await self.readModels.timeline.wait(for: max(head, position))
      return try await self.readModels.timeline.read { timeline in
        if let room = request.room, try !timeline.mayRead(room, request.user) {
          throw ServiceError.rejected(.roomNotFound)
        }
        var results: [FoundPage.Result] = []
        var (shown, next) = (SearchPlace?.none, page.next)
        var budget = PageBudget()
        for hit in page.hits {
          if let message = try timeline.shown(at: hit.location, of: hit.room, for: request.user),
            message.row.deletedAt == nil, message.row.text.utf8.elementsEqual(hit.text.utf8),
            request.type == nil || request.type == message.row.details?.custom?.type
          {
            guard budget.take(message.row.contentBytes + hit.snippet.jsonBytes) else {
              next = shown
              break
            }
            results.append(FoundPage.Result(message: message, snippet: hit.snippet))
          }
          shown = hit.next
        }
        return FoundPage(
          results: results, profiles: try timeline.profiles(on: results.map(\.message)), next: next,
          position: page.position)
      }
    }
  }
}
