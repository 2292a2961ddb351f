import ChatDomain
import ChatPrimitives
import ChatProtocol
import ChatService
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore

/// One request with what was found out about it, and the readers for its parts. Each throws the refusal that fits.
struct HansardRequestContext: Sendable {
  let request: Request
  let parameters: Parameters
  /// Nil where no token is needed and none came.
  let principal: Principal?
  let requestID: String
  let receivedAt: Timestamp
  /// Where it comes from, as far as is known.
  let address: NetworkAddress?
  /// Names the request's ID in every line.
  let logger: Logger
  /// The connection, or the stream of HTTP/2, that it came over.
  let channel: any Channel
  /// What its body, when it is collected, takes of the budget of the address.
  let bodyCharge: BodyCharge

  // MARK: Path and query

  /// A UUID in the path.
  func id<Entity>(_ name: String, as type: ID<Entity>.Type = ID<Entity>.self) throws -> ID<Entity> {
    guard let id = ID<Entity>(try text(name)) else { throw Refusal.invalidID(name) }
    return id
  }

  /// A segment of the path, percent-decoded; as it stands when it is not percent-encoded UTF-8.
  func text(_ name: String) throws -> String {
    guard let text = parameters.get(name) else { throw Refusal.invalidID(name) }
    return text.removingPercentEncoding ?? text
  }

  /// A parameter of the query that may stand there once.
  func query(_ name: String) throws -> String? {
    let values = request.uri.queryParameters.getAll(name)
    guard values.count <= 1 else { throw Refusal.invalidQuery("\(name) can be given only once.") }
    return values.first
  }

  func flag(_ name: String) throws -> Bool? {
    switch try query(name) {
    case nil: return nil
    case "true": return true
    case "false": return false
    case .some: throw Refusal.invalidQuery("\(name) must be true or false.")
    }
  }

  /// Refuses parameters that the endpoint does not have.
  func requireQuery(of endpoint: AnyEndpoint) throws {
    guard let query = request.uri.query, !query.isEmpty else { return }
    for (name, _) in request.uri.queryParameters where !endpoint.query.contains(String(name)) {
      throw Refusal.invalidQuery("Unknown parameter \"\(name)\".")
    }
  }

  /// A number from 1 on; nil when the query has none.
  func number(_ name: String, atMost most: Int) throws -> Int? {
    guard let text = try query(name) else { return nil }
    // `Int` alone would take a sign.
    guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
      let number = Int(text), (1...most).contains(number)
    else { throw Refusal.invalidQuery("\(name) must be a number from 1 to \(most).") }
    return number
  }

  /// How many items a page is to have.
  func limit(atMost most: Int = Limits.pageItems) throws -> Int {
    try number("limit", atMost: most) ?? min(most, Limits.pageDefaultItems)
  }

  // MARK: Headers

  /// The user in whose name the request is made; endpoints for users have one.
  var user: UserID {
    get throws {
      guard let user = principal?.user else { throw Refusal.actingUserRequired }
      return user
    }
  }

  /// For whom an answer is shown; nil for a service that acts for itself.
  var reader: UserID? { principal?.user }

  /// Who makes the request; endpoints that need a token have one.
  var actor: Principal {
    get throws {
      guard let principal else { throw Refusal.accessTokenMissing }
      return principal
    }
  }

  /// The `Idempotency-Key`, when there is one.
  func command() throws -> CommandID? {
    guard let text = request.headers[.idempotencyKey] else { return nil }
    guard let command = CommandID(text) else { throw Refusal.invalidIdempotencyKey }
    return command
  }

  /// The `If-Match`, when there is one.
  func precondition() throws -> Precondition? {
    guard let header = request.headers[.ifMatch] else { return nil }
    guard let precondition = Precondition(ifMatch: header) else { throw Refusal.invalidIfMatch }
    return precondition
  }

  /// Refuses an `If-Match` that is none, and any where nothing would be held against it: whoever sends one counts on it.
  func requirePrecondition(of endpoint: AnyEndpoint) throws {
    guard endpoint.method != .get, request.headers[.ifMatch] != nil else { return }
    guard endpoint.takesIfMatch else { throw Refusal.ifMatchUnsupported }
    _ = try precondition()
  }

  // MARK: Body

  /// How many bytes the body will have; nil when that is not known.
  var announcedBytes: Int? { request.headers[.contentLength].flatMap { Int($0) } }

  /// Refuses a body that is declared as anything else; see `DeclaredBody`.
  func requireMediaType(_ expected: String...) throws {
    try DeclaredBody.require(expected, request.headers)
  }

  /// What the body is declared as, without parameters, in lower case.
  var mediaType: String? {
    request.headers[.contentType].map { $0.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased() }
  }
}
