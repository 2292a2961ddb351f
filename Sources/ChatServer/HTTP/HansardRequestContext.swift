import ChatDomain
import ChatPrimitives
import ChatProtocol
import ChatService
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore

/// One request, what is known about it, and the readers for its parts. Each reader throws the matching refusal.
struct HansardRequestContext: Sendable {
  let request: Request
  let parameters: Parameters
  /// Nil if no token is needed and none was sent.
  let caller: Caller?
  let requestID: String
  let receivedAt: Timestamp
  /// The client's address, if it is known.
  let address: NetworkAddress?
  /// Adds the request's ID to every line.
  let logger: Logger
  /// The connection, or the HTTP/2 stream, on which the request arrived.
  let channel: any Channel
  /// What the request's body takes of the budget of the address when it is collected.
  let bodyCharge: BodyCharge

  var principal: Principal? { caller?.principal }

  // MARK: Path and query

  /// A UUID in the path.
  func id<Entity>(_ name: String, as type: ID<Entity>.Type = ID<Entity>.self) throws -> ID<Entity> {
    guard let id = ID<Entity>(try text(name)) else { throw Refusal.invalidID(name) }
    return id
  }

  /// A segment of the path, percent-decoded. It is returned unchanged if it is not percent-encoded UTF-8.
  func text(_ name: String) throws -> String {
    guard let text = parameters.get(name) else { throw Refusal.invalidID(name) }
    return text.removingPercentEncoding ?? text
  }

  /// A query parameter, which may occur only once.
  func query(_ name: String) throws -> String? {
    try request.uri.parameter(name)
  }

  /// A cursor in the query. The value that the server writes at the end of lists, if that is a text, means the beginning of
  /// the list, as if there were none: existing apps that know such a value send it with their first request.
  func cursor(_ name: String = "cursor") throws -> String? {
    guard let text = try query(name) else { return nil }
    return JSONBody.endCursor != .null && text == JSONBody.endCursor.rawValue ? nil : text
  }

  func flag(_ name: String) throws -> Bool? {
    switch try query(name) {
    case nil: return nil
    case "true": return true
    case "false": return false
    case .some: throw Refusal.invalidQuery("\(name) must be true or false.")
    }
  }

  /// An app's own type of message.
  func messageType() throws -> String? {
    guard let type = try query("type") else { return nil }
    guard !type.isEmpty, type.utf8.count <= Limits.customTypeBytes else {
      throw Refusal.invalidQuery("type must have 1 to \(Limits.customTypeBytes) bytes.")
    }
    return type
  }

  /// Rejects query parameters that the endpoint does not have.
  func requireQuery(of endpoint: AnyEndpoint) throws {
    try request.uri.requireQuery(of: endpoint)
  }

  /// A number between `least` and `most`; nil if the query has none.
  func number(_ name: String, from least: Int = 1, atMost most: Int) throws -> Int? {
    try request.uri.number(name, from: least, atMost: most)
  }

  /// The number of items that the client wants on a page.
  func limit(atMost most: Int = Limits.pageItems) throws -> Int {
    try number("limit", atMost: most) ?? min(most, Limits.pageDefaultItems)
  }

  // MARK: Headers

  /// The user in whose name the request is made. Endpoints for users always have one.
  var user: UserID {
    get throws {
      guard let user = principal?.user else { throw Refusal.actingUserRequired }
      return user
    }
  }

  /// The user whom the response is for; nil for a service that acts for itself.
  var reader: UserID? { principal?.user }

  /// Who makes the request. Endpoints that need a token always have one.
  var actor: Principal {
    get throws {
      guard let principal else { throw Refusal.accessTokenMissing }
      return principal
    }
  }

  /// The `Idempotency-Key`, if there is one. Two headers are rejected, because combined they would be a third key.
  func command() throws -> CommandID? {
    let keys = request.headers[values: .idempotencyKey]
    guard let text = keys.first else { return nil }
    guard keys.count == 1, let command = CommandID(key: text) else { throw Refusal.invalidIdempotencyKey }
    return command
  }

  /// The `If-Match`, if there is one.
  func precondition() throws -> Precondition? {
    guard let header = request.headers[.ifMatch] else { return nil }
    guard let precondition = Precondition(ifMatch: header) else { throw Refusal.invalidIfMatch }
    return precondition
  }

  /// Rejects a malformed `If-Match`, and any `If-Match` on an endpoint that does not check it, because its sender
  /// relies on it.
  func requirePrecondition(of endpoint: AnyEndpoint) throws {
    guard endpoint.method != .get, request.headers[.ifMatch] != nil else { return }
    guard endpoint.takesIfMatch else { throw Refusal.ifMatchUnsupported }
    _ = try precondition()
  }

  // MARK: Body

  /// The declared size of the body in bytes; nil if it is not known.
  var announcedBytes: Int? { request.headers[.contentLength].flatMap { Int($0) } }

  /// Rejects a body that is declared as another type; see `DeclaredBody`.
  func requireMediaType(_ expected: String...) throws {
    try DeclaredBody.require(expected, request.headers)
  }
}
