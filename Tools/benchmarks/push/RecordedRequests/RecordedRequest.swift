public import Foundation

/// A request of the server that the stand-in has kept, and that the bare client sends again.
public struct RecordedRequest: Codable, Sendable {
  public var path: String
  public var headers: [Header]
  public var body: Data

  public struct Header: Codable, Sendable {
    public var name: String
    public var value: String

    public init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  public init(path: String, headers: [Header], body: Data) {
    self.path = path
    self.headers = headers
    self.body = body
  }

  /// Writes a file with one request in each line.
  public static func write(_ requests: [RecordedRequest], to path: String) throws {
    let encoder = JSONEncoder()
    var content = Data()
    for request in requests {
      content += try encoder.encode(request)
      content.append(UInt8(ascii: "\n"))
    }
    try content.write(to: URL(fileURLWithPath: path))
  }

  public static func read(_ path: String) throws -> [RecordedRequest] {
    let decoder = JSONDecoder()
    return try Data(contentsOf: URL(fileURLWithPath: path)).split(separator: UInt8(ascii: "\n"))
      .map { try decoder.decode(RecordedRequest.self, from: $0) }
  }
}
