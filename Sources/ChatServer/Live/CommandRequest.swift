import ChatPrimitives
import ChatProtocol
import HTTPTypes
import Hummingbird
import NIOCore

/// The request that a command of a stream becomes.
struct CommandRequest {
  let request: Request

  private static let methods: [HTTPRequest.Method] = [.put, .post, .patch, .delete]
  /// Endpoints whose bodies are not JSON objects.
  private static let otherBodies = [Endpoints.ingest.path, Endpoints.uploadMedia.path]

  /// - Parameters:
  ///   - credentials: of the stream.
  ///   - forwardedFor: the header field of the stream's own request.
  /// - Throws: `Refusal` if a command cannot be such a request.
  init(_ frame: CommandFrame, _ credentials: Credentials?, forwardedFor: String?) throws {
    guard let method = Self.methods.first(where: { $0.rawValue == frame.method }) else {
      throw Refusal.methodNotAllowed(allowed: Self.methods.map(\.rawValue))
    }
    guard frame.path.utf8.first == UInt8(ascii: "/"), frame.path.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
    else { throw Refusal.invalidField("path must begin with a slash and be percent-encoded.") }
    let path = frame.path.prefix { $0 != "?" }.split(separator: "/")
    guard !Self.otherBodies.contains(where: { $0.split(separator: "/") == path }) else {
      throw Refusal.unsupportedMediaType
    }
    var fields = HTTPFields()
    fields[.authorization] = credentials?.authorization
    fields[.hansardActAs] = credentials?.actAs
    fields[.xForwardedFor] = forwardedFor
    fields[.idempotencyKey] = try Self.field("Idempotency-Key", frame.headers?.body.idempotencyKey)
    fields[.ifMatch] = try Self.field("If-Match", frame.headers?.body.ifMatch)
    var body = ByteBuffer()
    if let json = frame.body {
      fields[.contentType] = "application/json"
      body = ByteBuffer(string: json.canonicalText)
    }
    request = Request(
      head: HTTPRequest(method: method, scheme: nil, authority: nil, path: frame.path, headerFields: fields),
      body: RequestBody(buffer: body))
  }

  private static func field(_ name: String, _ value: String?) throws -> String? {
    guard let value else { return nil }
    guard HTTPField.isValidValue(value) else { throw Refusal.invalidField("\(name) is not the value of a header.") }
    return value
  }
}
