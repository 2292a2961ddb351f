public import ChatPrimitives

/// A message that was found.
public struct SearchResult: Codable, Sendable, Hashable {
  public var message: Message
  /// The part of the message around the words, with each hit between `«` and `»`.
  public var snippet: String

  public init(message: Message, snippet: String) {
    self.message = message
    self.snippet = snippet
  }
}

/// `GET /v1/search`
public struct SearchResults: ListObject {
  public var results: [SearchResult]
  /// The senders, the users whom messages mention or quote, and the participants of threads.
  public var users: [User]
  /// Null at the end, and only there: a page may have fewer results than requested.
  @Nullable public var nextCursor: String?
  /// The results are complete up to this position, except for messages that were edited or deleted since.
  public var position: LogPosition

  public init(results: [SearchResult], users: [User], nextCursor: String?, position: LogPosition) {
    self.results = results
    self.users = users
    self.nextCursor = nextCursor
    self.position = position
  }
}
