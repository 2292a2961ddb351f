public import ChatPrimitives

/// A message that was found.
public struct SearchResult: Codable, Sendable, Hashable {
  public var message: Message
  /// What of it is about the words, with each hit between `«` and `»`.
  public var snippet: String

  public init(message: Message, snippet: String) {
    self.message = message
    self.snippet = snippet
  }
}

/// `GET /v1/search`
public struct SearchResults: ResponseObject {
  public var results: [SearchResult]
  /// The senders, and all others whom the messages name.
  public var users: [User]
  /// Null at the end, and only there: a page may hold fewer than were asked for.
  @Nullable public var nextCursor: String?
  /// The answer holds as of here, less what was edited or deleted since.
  public var position: LogPosition

  public init(results: [SearchResult], users: [User], nextCursor: String?, position: LogPosition) {
    self.results = results
    self.users = users
    self.nextCursor = nextCursor
    self.position = position
  }
}
