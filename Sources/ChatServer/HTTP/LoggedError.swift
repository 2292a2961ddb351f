import ChatService
import NIOCore

/// The text about an error in the server's log. It never includes the contents of a request or a response.
enum LoggedError {
  static func text(_ error: any Error) -> String {
    switch error {
    case EncodingError.invalidValue(_, let context): "EncodingError at \(path(context.codingPath))"
    case DecodingError.dataCorrupted(let context), DecodingError.keyNotFound(_, let context),
      DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context):
      "DecodingError at \(path(context.codingPath))"
    case ServiceError.unreadable(let cause): text(cause)
    // The server writes these texts itself: they contain only files, positions and system error codes.
    case let error as ServiceError: "\(error)"
    case let error as IOError: "\(error)"
    default: "\(type(of: error))"
    }
  }

  /// Contains only the names of fields and the indexes of list items, and no key that a client has chosen.
  private static func path(_ keys: [any CodingKey]) -> String {
    keys.map { key in key.intValue.map { String($0) } ?? key.stringValue }.joined(separator: ".")
  }
}
