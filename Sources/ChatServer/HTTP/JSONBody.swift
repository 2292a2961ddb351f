import ChatPrimitives
import ChatProtocol
import HTTPTypes
import Hummingbird
import NIOCore
import NIOPosix

/// Encodes and decodes JSON, with a refusal for each way in which a body can be invalid.
enum JSONBody {
  /// How the end of a list is written in the response to the current request. Set by the server for each request, from
  /// its configuration.
  @TaskLocal static var endCursor = EndCursor.null

  /// Decodes a short body at once, and a long one on a thread that serves no connections. Handlers run on the event
  /// loops, where any work of more than a millisecond delays all other connections.
  static func decode<Body: RequestObject>(_ type: Body.Type, from buffer: ByteBuffer) async throws -> Body {
    if buffer.readableBytes <= Limits.inlineDecodingBytes { return try decodeAtOnce(type, from: buffer) }
    return try await NIOThreadPool.singleton.runIfActive { try decodeAtOnce(type, from: buffer) }
  }

  private static func decodeAtOnce<Body: RequestObject>(_ type: Body.Type, from buffer: ByteBuffer) throws -> Body {
    let document = try refusing { try JSONDocument(Array(buffer.readableBytesView)) }
    do {
      return try document.decode(Strict<Body>.self).body
    } catch {
      let problems = document.flaws(as: type, atMost: FieldProblem.limit).map { FieldProblem($0) }
      guard !problems.isEmpty else { throw error }
      throw Refusal.invalidFields(problems)
    }
  }

  /// Decodes a line. Its refusal names only the first of its problems.
  static func decodeNow<Body: RequestObject>(_ type: Body.Type, from buffer: ByteBuffer) throws -> Body {
    try refusing { try JSONDocument(Array(buffer.readableBytesView)).decode(Strict<Body>.self).body }
  }

  /// A value of a document that was read before.
  static func decode<Body: RequestObject>(_ type: Body.Type, from document: JSONDocument) throws -> Body {
    try refusing { try document.decode(Strict<Body>.self).body }
  }

  /// Turns the errors of decoding into refusals.
  static func refusing<Value>(_ body: () throws -> Value) throws -> Value {
    do {
      return try body()
    } catch let flaw as JSONFlaw {
      throw flaw == .invalidUTF8 ? Refusal.invalidUTF8 : Refusal.invalidJSON(flaw)
    } catch {
      guard let flaw = BodyFlaw(error) else { throw error }
      throw Refusal.invalidFields([FieldProblem(flaw)])
    }
  }

  static func encode(_ value: some Encodable) throws -> ByteBuffer { try encode(value, endCursor) }

  private static func encode(_ value: some Encodable, _ endCursor: EndCursor) throws -> ByteBuffer {
    ByteBuffer(
      bytes: try JSONWriter.bytes(of: value, userInfo: endCursor == .null ? [:] : [EndCursor.key: endCursor]))
  }

  static func response(
    _ status: HTTPResponse.Status, _ value: some Encodable, contentType: String = "application/json",
    headers: HTTPFields = [:]
  ) throws -> Response {
    response(status, encoded: try encode(value), contentType: contentType, headers: headers)
  }

  private static func response(
    _ status: HTTPResponse.Status, encoded: ByteBuffer, contentType: String = "application/json",
    headers: HTTPFields = [:]
  ) -> Response {
    var headers = headers
    headers[.contentType] = contentType
    return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: encoded))
  }

  /// A page of a list. A short one is made and encoded at once, a long one on a thread that serves no connections, as
  /// in `decode`.
  /// - Parameters:
  ///   - items: the number of items on the page.
  ///   - make: makes the value that is encoded.
  static func page<Shape: ResponseObject>(
    of items: Int, _ make: @escaping @Sendable () throws -> Shape
  ) async throws -> TypedResponse<Shape> {
    if items <= Limits.inlineEncodingItems { return try response(make()) }
    // The other thread does not have the task-local values.
    let endCursor = endCursor
    let encoded = try await NIOThreadPool.singleton.runIfActive { try encode(make(), endCursor) }
    return TypedResponse(encoded: response(.ok, encoded: encoded))
  }

  /// The receipt for a write: 201 with `Location` if something was created, otherwise 200.
  static func receipt<Shape: ResponseObject>(_ result: WriteResult, _ value: Shape) throws -> TypedResponse<Shape> {
    TypedResponse(encoded: try response(result.status, value, headers: result.headers))
  }

  /// The response to a request that began something, which continues after the response.
  static func accepted<Shape: ResponseObject>(_ value: Shape) throws -> TypedResponse<Shape> {
    TypedResponse(encoded: try response(.accepted, value))
  }

  static func response<Shape: ResponseObject>(
    _ value: Shape, headers: HTTPFields = [:]
  ) throws -> TypedResponse<Shape> {
    TypedResponse(encoded: try response(.ok, value, headers: headers))
  }
}

/// A response whose body has this shape.
struct TypedResponse<Shape: BodyShape>: Sendable {
  let response: Response

  fileprivate init(encoded response: Response) {
    self.response = response
  }
}

extension TypedResponse {
  /// The response of a read whose body was received.
  static func read(
    _ context: HansardRequestContext, in slots: ReadSlots, _ body: @escaping @Sendable () async throws -> TypedResponse
  ) async throws -> TypedResponse {
    TypedResponse(encoded: try await slots.handleReceived(context) { try await body().response })
  }
}

extension TypedResponse where Shape: RawBody {
  /// A response whose body the handler writes itself.
  init(raw response: Response) {
    self.response = response
  }
}
