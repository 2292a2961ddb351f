/// The shape of the body of a request or a response.
public protocol BodyShape: Sendable {
  static var format: BodyFormat { get }
}

/// How a body is encoded.
public enum BodyFormat: Sendable {
  case none
  /// One JSON object.
  case json(any (Codable & Sendable).Type)
  /// NDJSON: one JSON object per line.
  case lines(any (Codable & Sendable).Type)
  /// The bytes of a file, of any media type.
  case file
  /// A YAML document.
  case yaml
  /// Server-sent events, which do not end by themselves.
  case eventStream
  /// No body: the connection becomes a WebSocket.
  case webSocket
}

/// A JSON object that is the whole body of a response.
public protocol ResponseObject: Codable, Hashable, BodyShape {}

/// A list, or one page of it. Its response has an entity tag.
public protocol ListObject: ResponseObject {}

extension ResponseObject {
  public static var format: BodyFormat { .json(Self.self) }
}

/// A body that is not one JSON object. Its handler reads or writes the bytes itself.
public protocol RawBody: BodyShape {}

/// The shape of a request without a body.
public enum NoBody: BodyShape {
  public static let format = BodyFormat.none
}

public enum Lines<Line: Codable & Sendable>: RawBody {
  public static var format: BodyFormat { .lines(Line.self) }
}

public enum FileBytes: RawBody {
  public static let format = BodyFormat.file
}

/// The description of the API, `docs/openapi.yaml`.
public enum OpenAPIDocument: RawBody {
  public static let format = BodyFormat.yaml
}
