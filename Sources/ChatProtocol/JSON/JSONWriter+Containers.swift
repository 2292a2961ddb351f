/// Writes the members of an object.
struct JSONMemberWriter<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let writer: JSONWriter
  /// The number of open arrays and objects, including this object.
  let level: Int
  let path: JSONPath?

  var codingPath: [any CodingKey] { path?.keys ?? [] }

  func encodeNil(forKey key: Key) { member(key).encodeNil() }
  func encode(_ value: Bool, forKey key: Key) { member(key).encode(value) }
  func encode(_ value: String, forKey key: Key) { member(key).encode(value) }
  func encode(_ value: Double, forKey key: Key) throws { try member(key).encode(value) }
  func encode(_ value: Float, forKey key: Key) throws { try member(key).encode(value) }
  func encode(_ value: Int, forKey key: Key) { member(key).encode(value) }
  func encode(_ value: Int8, forKey key: Key) { member(key).encode(value) }
  func encode(_ value: Int16, forKey key: Key) { member(key).encode(value) }
  func encode(_ value: Int32, forKey key: Key) { member(key).encode(value) }
  func encode(_ value: Int64, forKey key: Key) { member(key).encode(value) }
  func encode(_ value: UInt, forKey key: Key) { member(key).encode(value) }
  func encode(_ value: UInt8, forKey key: Key) { member(key).encode(value) }
  func encode(_ value: UInt16, forKey key: Key) { member(key).encode(value) }
  func encode(_ value: UInt32, forKey key: Key) { member(key).encode(value) }
  func encode(_ value: UInt64, forKey key: Key) { member(key).encode(value) }
  func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws { try member(key).encode(value) }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> {
    member(key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { member(key).unkeyedContainer() }
  func superEncoder() -> any Encoder { member(JSONPlaceKey.superclass) }
  func superEncoder(forKey key: Key) -> any Encoder { member(key) }

  private func member(_ key: some CodingKey) -> CanonicalJSONEncoder {
    writer.begin(key.stringValue, at: level)
    return CanonicalJSONEncoder(writer: writer, level: level, path: JSONPath(path, key))
  }
}

/// Writes the elements of an array.
struct JSONElementWriter: UnkeyedEncodingContainer {
  let writer: JSONWriter
  let level: Int
  let path: JSONPath?
  private(set) var count = 0

  init(writer: JSONWriter, level: Int, path: JSONPath?) {
    self.writer = writer
    self.level = level
    self.path = path
  }

  var codingPath: [any CodingKey] { path?.keys ?? [] }

  mutating func encodeNil() { element().encodeNil() }
  mutating func encode<Value: Encodable>(_ value: Value) throws { try element().encode(value) }

  mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
    element().container(keyedBy: type)
  }

  mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { element().unkeyedContainer() }
  mutating func superEncoder() -> any Encoder { element() }

  private mutating func element() -> CanonicalJSONEncoder {
    writer.begin(nil, at: level)
    defer { count += 1 }
    return CanonicalJSONEncoder(writer: writer, level: level, path: JSONPath(path, JSONPlaceKey(count)))
  }
}
