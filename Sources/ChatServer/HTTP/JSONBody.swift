import ChatProtocol
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// JSON in and out, with a refusal for each way in which a body can be wrong.
enum JSONBody {
  /// How the end of a list is written in answers to the request under way. Set by the server for each request, from its
  /// configuration.
  @TaskLocal static var endCursor = EndCursor.null

  static func decode<Body: RequestObject>(_ type: Body.Type, from buffer: ByteBuffer) throws -> Body {
    let bytes = buffer.readableBytesView
    guard bytes.withContiguousStorageIfAvailable({ String(validating: $0, as: UTF8.self) }) ?? nil != nil else {
      throw Refusal.invalidUTF8
    }
    let data = Data(bytes)
    do {
      return try JSONDecoder().decode(Strict<Body>.self, from: data).body
    } catch let unknown as UnknownField {
      throw Refusal.unknownField(unknown.name)
    } catch let error as DecodingError {
      throw refusal(for: error, in: data)
    }
  }

  private static func refusal(for error: DecodingError, in data: Data) -> Refusal {
    switch error {
    case .keyNotFound(let key, _): return .invalidField("The field \"\(key.stringValue)\" is missing.")
    case .typeMismatch(_, let context), .valueNotFound(_, let context):
      guard let field = context.codingPath.last else { return .invalidField("The body must be a JSON object.") }
      return .invalidField("The field \"\(field.stringValue)\" has the wrong type.")
    case .dataCorrupted(let context):
      guard let field = context.codingPath.last else {
        // The decoder calls a number that does not fit its field invalid JSON too, without a path.
        let isJSON = (try? JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)) != nil
        return isJSON ? .invalidField("A number has a fraction or is too large.") : .invalidJSON(reason(context))
      }
      return .invalidField("The field \"\(field.stringValue)\" has the wrong form: \(context.debugDescription).")
    @unknown default: return .invalidJSON("it could not be read.")
    }
  }

  private static func reason(_ context: DecodingError.Context) -> String {
    guard let error = context.underlyingError as? NSError,
      let text = error.userInfo["NSDebugDescription"] as? String
    else { return context.debugDescription }
    return text
  }

  static func encode(_ value: some Encodable) throws -> ByteBuffer {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .withoutEscapingSlashes
    if endCursor != .null { encoder.userInfo[EndCursor.key] = endCursor }
    return ByteBuffer(bytes: try encoder.encode(value))
  }

  static func response(
    _ status: HTTPResponse.Status, _ value: some Encodable, contentType: String = "application/json",
    headers: HTTPFields = [:]
  ) throws -> Response {
    var headers = headers
    headers[.contentType] = contentType
    return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: try encode(value)))
  }

  /// The receipt for a write: 201 when something new was recorded, 200 when it stood there already.
  static func receipt(_ isNew: Bool, _ value: some Encodable) throws -> Response {
    try response(isNew ? .created : .ok, value)
  }

  static func answer(_ value: some Encodable) throws -> Response {
    try response(.ok, value)
  }
}
