/// The members of an object.
struct JSONMembers<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let decoder: JSONDocumentDecoder

  var codingPath: [any CodingKey] { decoder.codingPath }

  var allKeys: [Key] {
    var keys: [Key] = []
    decoder.document.findMember(of: decoder.node) { name, _ in
      if let key = Key(stringValue: decoder.document.string(decoder.document.nodes[name])) { keys.append(key) }
      return false
    }
    return keys
  }

  func contains(_ key: Key) -> Bool { find(key.stringValue) != nil }

  func decodeNil(forKey key: Key) throws -> Bool { try member(key).decodeNil() }
  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try value(type, key) }
  func decode(_ type: String.Type, forKey key: Key) throws -> String { try value(type, key) }
  func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try value(type, key) }
  func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try value(type, key) }
  func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try value(type, key) }
  func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try value(type, key) }
  func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try value(type, key) }
  func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try value(type, key) }
  func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try value(type, key) }
  func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try value(type, key) }
  func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try value(type, key) }
  func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try value(type, key) }
  func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try value(type, key) }
  func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try value(type, key) }

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value { try value(type, key) }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> {
    try member(key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try member(key).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder { try member(JSONPlaceKey.superclass) }
  func superDecoder(forKey key: Key) throws -> any Decoder { try member(key) }

  private func value<Value: Decodable>(_ type: Value.Type, _ key: Key) throws -> Value {
    guard let flaws = decoder.flaws else { return try member(key).decode(type) }
    return try flaws.value(type) { try member(key).decode(type) }
  }

  private func find(_ name: String) -> Int? {
    var found: Int?
    decoder.document.findMember(of: decoder.node) { member, value in
      guard decoder.document.isName(decoder.document.nodes[member], name) else { return false }
      found = value
      return true
    }
    return found
  }

  private func member(_ key: some CodingKey) throws -> JSONDocumentDecoder {
    guard let value = find(key.stringValue) else {
      throw DecodingError.keyNotFound(
        key, DecodingError.Context(codingPath: codingPath, debugDescription: "the member is missing"))
    }
    return JSONDocumentDecoder(decoder.document, value, JSONPath(decoder.path, key), flaws: decoder.flaws)
  }
}

/// The elements of an array, in order.
struct JSONElements: UnkeyedDecodingContainer {
  private let decoder: JSONDocumentDecoder
  private var node: Int
  private(set) var currentIndex = 0

  init(decoder: JSONDocumentDecoder) {
    self.decoder = decoder
    node = decoder.node + 1
  }

  var codingPath: [any CodingKey] { decoder.codingPath }
  var count: Int? { elements }
  var isAtEnd: Bool { currentIndex >= elements }

  private var elements: Int { Int(decoder.document.nodes[decoder.node].count) }

  mutating func decodeNil() throws -> Bool {
    guard try element().decodeNil() else { return false }
    step()
    return true
  }

  mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    let value =
      if let flaws = decoder.flaws { try flaws.value(type) { try element().decode(type) } } else {
        try element().decode(type)
      }
    step()
    return value
  }

  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) throws -> KeyedDecodingContainer<Nested> {
    let container = try element().container(keyedBy: type)
    step()
    return container
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    let container = try element().unkeyedContainer()
    step()
    return container
  }

  mutating func superDecoder() throws -> any Decoder {
    let decoder = try element()
    step()
    return decoder
  }

  private func element() throws -> JSONDocumentDecoder {
    let path = JSONPath(decoder.path, JSONPlaceKey(currentIndex))
    guard !isAtEnd else {
      throw DecodingError.valueNotFound(
        CanonicalJSON.self,
        DecodingError.Context(codingPath: path.keys, debugDescription: "the array has no more elements"))
    }
    return JSONDocumentDecoder(decoder.document, node, path, flaws: decoder.flaws)
  }

  private mutating func step() {
    node = Int(decoder.document.nodes[node].next)
    currentIndex += 1
  }
}
