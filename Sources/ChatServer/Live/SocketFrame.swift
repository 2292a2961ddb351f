import ChatPrimitives
import ChatProtocol
import SocketProtocols

/// A message of a client over `GET /v1/sync/socket`.
enum SocketFrame {
  case authenticate(AuthenticateFrame)
  case command(id: String, CommandFrame)
  /// A command that has a response only if it is refused.
  case saying(CommandFrame)
  /// A command that has a response, but cannot be performed.
  case malformedCommand(id: String?, any Error)

  private struct Head: Decodable {
    var type: String?
    var id: String?
  }

  /// - Throws: `Refusal` if the message is invalid. The stream ends with it.
  init(_ message: WebSocketMessage) throws {
    guard case .text(let text) = message else { throw Refusal.invalidFrame("Send text messages, not binary ones.") }
    let document: JSONDocument
    do throws(JSONFlaw) {
      document = try JSONDocument(text)
    } catch {
      throw Refusal.invalidFrame("The message is not a JSON object: \(error.detail)")
    }
    guard let head = try? document.decode(Head.self) else {
      throw Refusal.invalidFrame(#"A message must be a JSON object with the text "type"."#)
    }
    switch head.type {
    case "authenticate": self = .authenticate(try JSONBody.decode(AuthenticateFrame.self, from: document))
    case "command": self = Self.command(head.id, document)
    case "typing": self = Self.saying { try CommandFrame(JSONBody.decode(TypingFrame.self, from: document)) }
    case "presence": self = Self.saying { try CommandFrame(JSONBody.decode(PresenceFrame.self, from: document)) }
    case "open": self = Self.saying { try CommandFrame(JSONBody.decode(OpenFrame.self, from: document)) }
    default:
      throw Refusal.invalidFrame("The type of a message must be authenticate, command, typing, presence or open.")
    }
  }

  private static func saying(_ frame: () throws -> CommandFrame) -> SocketFrame {
    do {
      return .saying(try frame())
    } catch {
      return .malformedCommand(id: nil, error)
    }
  }

  private static func command(_ id: String?, _ document: JSONDocument) -> SocketFrame {
    guard let id, (1...Limits.commandIDBytes).contains(id.utf8.count) else {
      let why = "The field \"id\" of a command must have 1 to \(Limits.commandIDBytes) bytes."
      return .malformedCommand(id: nil, Refusal.invalidField(why))
    }
    do {
      return .command(id: id, try JSONBody.decode(CommandFrame.self, from: document))
    } catch {
      return .malformedCommand(id: id, error)
    }
  }
}
