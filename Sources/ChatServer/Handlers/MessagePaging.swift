import ChatPrimitives
import ChatProjections
import ChatProtocol
import ChatService

/// Reads the paging parameters for the messages of a room or a thread.
enum MessagePaging {
  static func request(_ context: HansardRequestContext, _ cursors: PageCursors) throws -> ChatService.PageRequest {
    let before = try context.cursor("before")
    let after = try context.cursor("after")
    let around = try context.cursor("around")
    switch (before, after, around) {
    case (nil, nil, nil): return .newest
    case (let text?, nil, nil): return .before(try anchor(text, cursors))
    case (nil, let text?, nil): return .after(try anchor(text, cursors))
    case (nil, nil, let text?): return .around(try anchor(text, cursors))
    default: throw Refusal.invalidQuery("Send at most one of before, after and around.")
    }
  }

  /// Parses a cursor, a message's ID or a time.
  private static func anchor(_ text: String, _ cursors: PageCursors) throws -> ChatService.Anchor {
    if let message = MessageID(text) { return .message(message) }
    if let time = Timestamp(rfc3339: text) { return .time(time) }
    return .ordinal(try cursors.place(in: text))
  }
}

extension MessagePage {
  init(_ page: TimelinePage, _ cursors: PageCursors) {
    self.init(
      messages: page.shown.map { Message($0) }, users: [User](page.profiles),
      nextCursor: page.older.map { cursors.cursor(at: $0) },
      previousCursor: page.newer.map { cursors.cursor(at: $0) })
  }
}
