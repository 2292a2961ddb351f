import ChatPrimitives
import Foundation

/// One line of a chat history: a message, a join or a leave, with its user, room and time.
struct HistoryLine: Decodable {
  enum Kind: String, Decodable {
    case message
    case join
    case leave
  }

  let at: Timestamp
  let room: String
  let type: Kind
  let user: String
  /// The text of a message. Empty for joins and leaves.
  let text: String

  private enum CodingKeys: String, CodingKey {
    case at
    case room
    case type
    case user
    case text
  }

  init(at: Timestamp, room: String, type: Kind, user: String, text: String = "") {
    self.at = at
    self.room = room
    self.type = type
    self.user = user
    self.text = text
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    at = try container.decode(Timestamp.self, forKey: .at)
    room = try container.decode(String.self, forKey: .room)
    type = try container.decode(Kind.self, forKey: .type)
    user = try container.decode(String.self, forKey: .user)
    text = type == .message ? try container.decode(String.self, forKey: .text) : ""
  }
}

/// Parses the lines of a history.
struct HistoryParser {
  private let decoder = JSONDecoder()

  /// - Throws: `Flaw` with a reason that people can read.
  func parse(_ line: [UInt8]) throws(Flaw) -> HistoryLine {
    do {
      return try decoder.decode(HistoryLine.self, from: Data(line))
    } catch {
      throw Flaw(reason: Self.reason(error))
    }
  }

  /// Why a line is not a valid line of a history.
  struct Flaw: Error {
    let reason: String
  }

  private static func reason(_ error: any Error) -> String {
    switch error {
    case DecodingError.keyNotFound(let key, _): "it has no field \(key.stringValue)"
    case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context):
      context.codingPath.last.map { "its field \($0.stringValue) has the wrong type" } ?? "it is not a JSON object"
    case DecodingError.dataCorrupted(let context):
      context.codingPath.last.map { "its field \($0.stringValue) has no valid value" } ?? "it is not valid JSON"
    default: "it is not valid JSON"
    }
  }
}
