import ChatService
import NIOCore

/// What the server's log says of an error: never what a request or a response holds.
enum LoggedError {
  static func text(_ error: any Error) -> String {
    switch error {
    case EncodingError.invalidValue(_, let context): "EncodingError at \(path(context.codingPath))"
    case DecodingError.dataCorrupted(let context), DecodingError.keyNotFound(_, let context),
      DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context):
      "DecodingError at \(path(context.codingPath))"
    case ServiceError.unreadable(let cause): text(cause)
    // Written by the server itself: files, positions, codes of the system.
    case let error as ServiceError: "\(error)"
    case let error as IOError: "\(error)"
    default: "\(type(of: error))"
    }
  }

  /// Names of fields alone: a place in a list by its number, and no key that a client has chosen.
  private static func path(_ keys: [any CodingKey]) -> String {
    keys.map { key in key.intValue.map { String($0) } ?? key.stringValue }.joined(separator: ".")
  }
}
