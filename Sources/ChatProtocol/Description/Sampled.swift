import ChatPrimitives

/// A type that a `ShapeReader` samples directly, because it is not an object of the contract.
protocol Sampled: Decodable {
  static func sample(by reader: ShapeReader) throws -> (Self, ShapeReader.FieldType)
}

extension String: Sampled {
  static func sample(by reader: ShapeReader) -> (Self, ShapeReader.FieldType) { ("text", .init(name: "string")) }
}

extension Bool: Sampled {
  static func sample(by reader: ShapeReader) -> (Self, ShapeReader.FieldType) { (true, .init(name: "boolean")) }
}

extension Sampled where Self: FixedWidthInteger {
  static func sample(by reader: ShapeReader) -> (Self, ShapeReader.FieldType) { (1, .init(name: "integer")) }
}

extension Int: Sampled {}
extension Int64: Sampled {}
extension UInt64: Sampled {}

extension LogPosition: Sampled {
  static func sample(by reader: ShapeReader) -> (Self, ShapeReader.FieldType) { (.first, .init(name: "integer")) }
}

extension ID: Sampled {
  static func sample(by reader: ShapeReader) -> (Self, ShapeReader.FieldType) {
    (ID(UUIDBytes(high: 1, low: 2)), .init(name: "id"))
  }
}

extension Timestamp: Sampled {
  static func sample(by reader: ShapeReader) -> (Self, ShapeReader.FieldType) {
    (Timestamp(milliseconds: 0), .init(name: "time"))
  }
}

extension CanonicalJSON: Sampled {
  static func sample(by reader: ShapeReader) -> (Self, ShapeReader.FieldType) {
    (CanonicalJSON(unchecked: "1"), .init(name: "any"))
  }
}

extension Array: Sampled where Element: Decodable {
  static func sample(by reader: ShapeReader) throws -> (Self, ShapeReader.FieldType) {
    let (element, type) = try reader.sample(Element.self)
    return ([element], .init(name: "[\(type.name)]"))
  }
}

extension Nullable: Sampled {
  static func sample(by reader: ShapeReader) throws -> (Self, ShapeReader.FieldType) {
    let (value, type) = try reader.sample(Value.self)
    return (Nullable(wrappedValue: value), .init(name: type.name, isNullable: true))
  }
}

extension Strict: Sampled {
  static func sample(by reader: ShapeReader) throws -> (Self, ShapeReader.FieldType) {
    let (body, type) = try reader.sample(Body.self)
    return (Strict(body), type)
  }
}
