/// Finds the fields that a type declares by decoding a sample of it. Decoding that the compiler generates asks its
/// decoder for each field in declared order.
package final class ShapeReader {
  /// An object of the contract.
  package struct Shape: Encodable, Sendable {
    package let name: String
    /// Whether clients send it; otherwise the server sends it.
    package let isRequest: Bool
    /// In declared order.
    package fileprivate(set) var fields: [Field] = []
  }

  package struct Field: Encodable, Sendable {
    package let name: String
    /// `string`, `id`, `time`, `integer`, `boolean`, `any`, or the name of a shape; an array in brackets.
    package let type: String
    /// Whether it is never absent.
    package let isRequired: Bool
    /// Whether a response has null if there is no value.
    package let isNullable: Bool
  }

  struct FieldType {
    let name: String
    var isNullable = false
  }

  /// The shapes that were read, and the shapes that they contain.
  package private(set) var shapes: [String: Shape] = [:]

  package init() {}

  /// - Returns: a sample that has a value in every field.
  /// - Throws: `DecodingError` if the type is not an object, or if a field has a type that the contract does not use.
  @discardableResult package func read<Value: Decodable>(_ type: Value.Type) throws -> Value { try sample(type).0 }

  func sample<Value: Decodable>(_ type: Value.Type) throws -> (Value, FieldType) {
    if let known = type as? any Sampled.Type {
      let (value, fieldType) = try known.sample(by: self)
      guard let value = value as? Value else { throw Self.unknown(type) }
      return (value, fieldType)
    }
    let fields = FieldRecorder(reader: self)
    let value = try Value(from: fields)
    let name = String(describing: type)
    shapes[name] = Shape(name: name, isRequest: type is any RequestObject.Type, fields: fields.found)
    return (value, FieldType(name: name))
  }

  fileprivate static func unknown(_ type: any Any.Type) -> DecodingError {
    .typeMismatch(
      type, DecodingError.Context(codingPath: [], debugDescription: "the contract has no values of this type"))
  }
}

/// Decodes one sample and records its fields.
private final class FieldRecorder: Decoder {
  let reader: ShapeReader
  private(set) var found: [ShapeReader.Field] = []
  private var optional: Set<String> = []

  init(reader: ShapeReader) {
    self.reader = reader
  }

  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  /// Only the decoding of an optional asks whether its field is present.
  func isAsked(for name: String) { optional.insert(name) }

  func value<Value: Decodable>(_ type: Value.Type, of name: String) throws -> Value {
    let (value, fieldType) = try reader.sample(type)
    found.append(
      ShapeReader.Field(
        name: name, type: fieldType.name, isRequired: !optional.contains(name), isNullable: fieldType.isNullable))
    return value
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(RecordedFields<Key>(recorder: self))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw ShapeReader.unknown([Any].self) }
  func singleValueContainer() throws -> any SingleValueDecodingContainer { throw ShapeReader.unknown(Any.self) }
}

private struct RecordedFields<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let recorder: FieldRecorder

  var codingPath: [any CodingKey] { [] }
  var allKeys: [Key] { [] }

  func contains(_ key: Key) -> Bool {
    recorder.isAsked(for: key.stringValue)
    return true
  }

  func decodeNil(forKey key: Key) -> Bool { false }

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    try recorder.value(type, of: key.stringValue)
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> { throw ShapeReader.unknown(type) }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    throw ShapeReader.unknown([Any].self)
  }

  func superDecoder() throws -> any Decoder { throw ShapeReader.unknown(Any.self) }
  func superDecoder(forKey key: Key) throws -> any Decoder { throw ShapeReader.unknown(Any.self) }
}
