/// Decodes a value of a document for a type's own `init(from:)`.
struct JSONDocumentDecoder: Decoder {
  let document: JSONDocument
  let node: Int
  let path: JSONPath?
  /// Nil if decoding ends with the first flaw.
  let flaws: BodyFlaws?

  var codingPath: [any CodingKey] { path?.keys ?? [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  init(_ document: JSONDocument, _ node: Int = 0, _ path: JSONPath? = nil, flaws: BodyFlaws? = nil) {
    self.flaws = flaws
    self.document = document
    self.node = node
    self.path = path
  }

  private var kind: JSONDocument.Node.Kind { document.nodes[node].kind }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    guard kind == .object else { throw mismatch([String: CanonicalJSON].self) }
    return KeyedDecodingContainer(JSONMembers<Key>(decoder: self))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    guard kind == .array else { throw mismatch([CanonicalJSON].self) }
    return JSONElements(decoder: self)
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

  // MARK: - Values

  func canonicalText() throws -> String {
    guard let text = JSONCanonicalText.text(of: node, in: document) else {
      throw corrupted("a number is too large")
    }
    return text
  }

  private func integer<Integer: FixedWidthInteger>(_ type: Integer.Type) throws -> Integer {
    switch kind {
    case .integer, .number:
      guard let integer = JSONNumbers.integer(document.number(document.nodes[node]), as: type) else {
        throw corrupted("a number has a fraction or is too large")
      }
      return integer
    case .null, .true, .false, .string, .escapedString, .array, .object: throw mismatch(type)
    }
  }

  private func mismatch(_ type: any Any.Type) -> DecodingError {
    let context = DecodingError.Context(codingPath: codingPath, debugDescription: "the value has the wrong type")
    return kind == .null ? .valueNotFound(type, context) : .typeMismatch(type, context)
  }

  private func corrupted(_ what: String) -> DecodingError {
    .dataCorrupted(DecodingError.Context(codingPath: codingPath, debugDescription: what))
  }
}

extension JSONDocumentDecoder: SingleValueDecodingContainer {
  func decodeNil() -> Bool { kind == .null }

  func decode(_ type: Bool.Type) throws -> Bool {
    switch kind {
    case .true: return true
    case .false: return false
    case .null, .integer, .number, .string, .escapedString, .array, .object: throw mismatch(type)
    }
  }

  func decode(_ type: String.Type) throws -> String {
    switch kind {
    case .string, .escapedString: return document.string(document.nodes[node])
    case .null, .true, .false, .integer, .number, .array, .object: throw mismatch(type)
    }
  }

  func decode(_ type: Double.Type) throws -> Double {
    switch kind {
    case .integer, .number:
      guard let double = Double(document.number(document.nodes[node])), double.isFinite else {
        throw corrupted("a number is too large")
      }
      return double
    case .null, .true, .false, .string, .escapedString, .array, .object: throw mismatch(type)
    }
  }

  func decode(_ type: Float.Type) throws -> Float { Float(try decode(Double.self)) }
  func decode(_ type: Int.Type) throws -> Int { try integer(type) }
  func decode(_ type: Int8.Type) throws -> Int8 { try integer(type) }
  func decode(_ type: Int16.Type) throws -> Int16 { try integer(type) }
  func decode(_ type: Int32.Type) throws -> Int32 { try integer(type) }
  func decode(_ type: Int64.Type) throws -> Int64 { try integer(type) }
  func decode(_ type: UInt.Type) throws -> UInt { try integer(type) }
  func decode(_ type: UInt8.Type) throws -> UInt8 { try integer(type) }
  func decode(_ type: UInt16.Type) throws -> UInt16 { try integer(type) }
  func decode(_ type: UInt32.Type) throws -> UInt32 { try integer(type) }
  func decode(_ type: UInt64.Type) throws -> UInt64 { try integer(type) }
  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try Value(from: self) }
}

/// The path from the outermost value to a value within it.
final class JSONPath: Sendable {
  private let parent: JSONPath?
  private let key: any CodingKey & Sendable

  init(_ parent: JSONPath?, _ key: any CodingKey) {
    self.parent = parent
    self.key = key
  }

  var keys: [any CodingKey] {
    var keys: [any CodingKey] = [key]
    var next = parent
    while let step = next {
      keys.append(step.key)
      next = step.parent
    }
    return keys.reversed()
  }
}

/// The index of an element in an array, or the key under which a class encodes its superclass.
struct JSONPlaceKey: CodingKey {
  let stringValue: String
  let intValue: Int?

  init(_ index: Int) {
    stringValue = "Index \(index)"
    intValue = index
  }

  init(stringValue: String) {
    self.stringValue = stringValue
    intValue = nil
  }

  init?(intValue: Int) {
    self.init(intValue)
  }

  static let superclass = JSONPlaceKey(stringValue: "super")
}
