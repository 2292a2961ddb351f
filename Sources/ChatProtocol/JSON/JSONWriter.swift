/// Writes a value as JSON: members in the order in which its type declares them, no white space, and each
/// `CanonicalJSON` unchanged. It supports the project's own types and what Swift's standard library encodes, but not
/// `Date`, `Data` and `URL`.
public final class JSONWriter {
  private var bytes: [UInt8] = []
  /// The arrays and objects that are open, outermost first.
  private var open: [Opened] = []
  private var misuse: String?
  let userInfo: [CodingUserInfoKey: Any]

  private struct Opened {
    let isObject: Bool
    var isEmpty = true
  }

  private init(_ userInfo: [CodingUserInfoKey: Any]) {
    self.userInfo = userInfo
  }

  /// - Throws: `EncodingError`, or what the value's own encoding throws.
  public static func bytes(
    of value: some Encodable, userInfo: [CodingUserInfoKey: Any] = [:]
  ) throws -> [UInt8] {
    let writer = JSONWriter(userInfo)
    try writer.write(value, at: 0, nil)
    if let misuse = writer.misuse {
      throw EncodingError.invalidValue(
        type(of: value), EncodingError.Context(codingPath: [], debugDescription: misuse))
    }
    return writer.bytes
  }

  // MARK: - Values

  /// - Parameter level: the number of arrays and objects that are open around it.
  func write<Value: Encodable>(_ value: Value, at level: Int, _ path: JSONPath?) throws {
    let start = bytes.count
    try value.encode(to: CanonicalJSONEncoder(writer: self, level: level, path: path))
    close(to: level)
    // A value that encodes nothing is written as an empty object.
    if bytes.count == start { bytes.append(contentsOf: "{}".utf8) }
  }

  func write(json: String) { bytes.append(contentsOf: json.utf8) }
  func write(text: String) { JSONEscapes.write(text, to: &bytes) }
  func write(_ integer: some FixedWidthInteger) { bytes.append(contentsOf: String(integer).utf8) }

  func write(_ double: Double, _ path: [any CodingKey]) throws {
    guard double.isFinite else {
      throw EncodingError.invalidValue(
        double, EncodingError.Context(codingPath: path, debugDescription: "JSON cannot represent this number"))
    }
    JSONNumbers.write(double, to: &bytes)
  }

  // MARK: - Arrays and objects

  /// Opens an array or object inside `level` others, or continues the one that is already open there.
  func open(isObject: Bool, at level: Int) {
    close(to: level + 1)
    if open.count > level {
      if open[level].isObject != isObject { misuse = "a value is encoded as an array and as an object" }
      return
    }
    open.append(Opened(isObject: isObject))
    bytes.append(isObject ? UInt8(ascii: "{") : UInt8(ascii: "["))
  }

  /// Begins an element, or a member with this name, of the array or object at depth `level`. Closes all deeper ones
  /// first.
  func begin(_ name: String?, at level: Int) {
    close(to: level)
    guard open.count == level, level > 0 else {
      misuse = "something is encoded into an array or object that is closed"
      return
    }
    if !open[level - 1].isEmpty { bytes.append(UInt8(ascii: ",")) }
    open[level - 1].isEmpty = false
    guard let name else { return }
    JSONEscapes.write(name, to: &bytes)
    bytes.append(UInt8(ascii: ":"))
  }

  private func close(to level: Int) {
    while open.count > level, let innermost = open.popLast() {
      bytes.append(innermost.isObject ? UInt8(ascii: "}") : UInt8(ascii: "]"))
    }
  }
}

/// Encodes one value for a type's own `encode(to:)`.
struct CanonicalJSONEncoder: Encoder {
  let writer: JSONWriter
  /// The number of arrays and objects that are open around the value.
  let level: Int
  let path: JSONPath?

  var codingPath: [any CodingKey] { path?.keys ?? [] }
  var userInfo: [CodingUserInfoKey: Any] { writer.userInfo }

  func write(json: String) { writer.write(json: json) }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    writer.open(isObject: true, at: level)
    return KeyedEncodingContainer(JSONMemberWriter<Key>(writer: writer, level: level + 1, path: path))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    writer.open(isObject: false, at: level)
    return JSONElementWriter(writer: writer, level: level + 1, path: path)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { self }
}

extension CanonicalJSONEncoder: SingleValueEncodingContainer {
  func encodeNil() { writer.write(json: "null") }
  func encode(_ value: Bool) { writer.write(json: value ? "true" : "false") }
  func encode(_ value: String) { writer.write(text: value) }
  func encode(_ value: Double) throws { try writer.write(value, codingPath) }
  func encode(_ value: Float) throws { try writer.write(Double(value), codingPath) }
  func encode(_ value: Int) { writer.write(value) }
  func encode(_ value: Int8) { writer.write(value) }
  func encode(_ value: Int16) { writer.write(value) }
  func encode(_ value: Int32) { writer.write(value) }
  func encode(_ value: Int64) { writer.write(value) }
  func encode(_ value: UInt) { writer.write(value) }
  func encode(_ value: UInt8) { writer.write(value) }
  func encode(_ value: UInt16) { writer.write(value) }
  func encode(_ value: UInt32) { writer.write(value) }
  func encode(_ value: UInt64) { writer.write(value) }
  func encode<Value: Encodable>(_ value: Value) throws { try writer.write(value, at: level, path) }
}
