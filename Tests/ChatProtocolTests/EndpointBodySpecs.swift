import Testing

@testable import ChatProtocol

/// Each body is checked with a sample that has a value in every field.
@Suite("the bodies of every endpoint")
struct EndpointBodySpecs {
  private typealias Object = any (Codable & Sendable).Type

  @Test("members are written in the order in which the type declares them", arguments: Endpoints.all)
  func order(endpoint: AnyEndpoint) throws {
    func check(_ object: (some Codable).Type) throws {
      let sample = try ShapeReader().read(object)
      let text = String(decoding: try JSONWriter.bytes(of: sample), as: UTF8.self)
      let written = text.matches(of: /"(\w+)":/).map { String($0.1) }
      let declared = try Self.declaredNames(sample)
      #expect(written == declared)
    }
    for object in Self.objects(of: endpoint) { try check(object) }
  }

  @Test("each side decodes what the other encodes", arguments: Endpoints.all)
  func bothSides(endpoint: AnyEndpoint) throws {
    func check(_ object: (some Codable).Type) throws {
      let written = try JSONWriter.bytes(of: ShapeReader().read(object))
      let read = try JSONDocument(written).decode(object)
      #expect(try JSONWriter.bytes(of: read) == written)
    }
    for object in Self.objects(of: endpoint) { try check(object) }
  }

  private static func objects(of endpoint: AnyEndpoint) -> [Object] {
    [endpoint.request, endpoint.response].compactMap { format -> Object? in
      switch format {
      case .json(let object), .lines(let object): object
      case .none, .file, .yaml, .eventStream, .webSocket: nil
      }
    }
  }

  /// The names of an object's members and of the members within them, from its stored properties.
  private static func declaredNames(_ value: Any) throws -> [String] {
    let mirror = Mirror(reflecting: value)
    let children = mirror.children.map { (label: $0.label ?? "", value: $0.value) }
    // Neither an optional nor one of these wrappers is a member itself.
    let type = String(describing: type(of: value))
    if mirror.displayStyle == .optional || type.hasPrefix("Nullable<") || type.hasPrefix("Strict<") {
      return try children.flatMap { try declaredNames($0.value) }
    }
    let encodable = try #require(value as? any Encodable)
    switch try JSONWriter.bytes(of: encodable).first {
    case UInt8(ascii: "{"):
      // The storage of a wrapped property has an underscore before its name.
      return try children.flatMap { try [String($0.label.drop { $0 == "_" })] + declaredNames($0.value) }
    case UInt8(ascii: "["): return try children.flatMap { try declaredNames($0.value) }
    default: return []
    }
  }
}

@Suite("what is read of a type")
struct ShapeReaderSpecs {
  private struct Part: Codable {
    let id: Int
  }

  private struct Whole: Codable {
    let zebra: String
    let absent: Bool?
    @Nullable var empty: Int?
    let parts: [Part]?
    let ant: Part
  }

  @Test("every field, in declared order, with its type, and whether it may be absent or null")
  func fields() throws {
    let reader = ShapeReader()
    let sample = try reader.read(Whole.self)
    #expect(sample.absent == true && sample.empty == 1 && sample.parts?.count == 1)
    let fields = try #require(reader.shapes["Whole"]).fields
    #expect(fields.map(\.name) == ["zebra", "absent", "empty", "parts", "ant"])
    #expect(fields.map(\.type) == ["string", "boolean", "integer", "[Part]", "Part"])
    #expect(fields.map(\.isRequired) == [true, false, true, false, true])
    #expect(fields.map(\.isNullable) == [false, false, true, false, false])
    #expect(reader.shapes["Part"]?.fields.map(\.name) == ["id"])
  }

  @Test("a type that the contract does not use is refused")
  func unknown() {
    struct Temperature: Codable { let degrees: Double }
    #expect(throws: DecodingError.self) { try ShapeReader().read(Temperature.self) }
  }
}
