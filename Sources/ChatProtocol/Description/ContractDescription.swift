/// The contract as data, for the test that compares it with `docs/openapi.yaml`.
package struct ContractDescription: Encodable, Sendable {
  package struct Endpoint: Encodable, Sendable {
    package let method: String
    package let path: String
    package let access: String
    package let query: [String]
    package let takesIfMatch: Bool
    /// Nil if there is no body.
    package let request: Body?
    package let response: Body?
  }

  package struct Body: Encodable, Sendable {
    /// `json`, `lines`, `file` or `yaml`.
    package let format: String
    /// The shape of the object, or of the object in each line; nil for a file or a YAML document.
    package let shape: String?
  }

  package let endpoints: [Endpoint]
  /// The shapes of all bodies and of problems, sorted by name.
  package let shapes: [ShapeReader.Shape]

  /// - Throws: `DecodingError` if a type of the contract has no fields that can be read.
  package init(of endpoints: [AnyEndpoint]) throws {
    let reader = ShapeReader()
    try reader.read(Problem.self)
    self.endpoints = try endpoints.map { endpoint in
      Endpoint(
        method: endpoint.method.rawValue, path: endpoint.path, access: endpoint.access.rawValue, query: endpoint.query,
        takesIfMatch: endpoint.takesIfMatch, request: try Body(endpoint.request, reader),
        response: try Body(endpoint.response, reader))
    }
    shapes = reader.shapes.values.sorted { $0.name < $1.name }
  }
}

extension ContractDescription.Body {
  fileprivate init?(_ format: BodyFormat, _ reader: ShapeReader) throws {
    switch format {
    case .none: return nil
    case .json(let type): self.init(format: "json", shape: try Self.name(of: type, reader))
    case .lines(let type): self.init(format: "lines", shape: try Self.name(of: type, reader))
    case .file: self.init(format: "file", shape: nil)
    case .yaml: self.init(format: "yaml", shape: nil)
    case .eventStream: self.init(format: "eventStream", shape: nil)
    case .webSocket: self.init(format: "webSocket", shape: nil)
    }
  }

  private static func name(of type: any (Codable & Sendable).Type, _ reader: ShapeReader) throws -> String {
    try reader.read(type)
    return String(describing: type)
  }
}
